"""`trifuse search --aspect` as a process of its own, with an adapter of two dimensions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.description import read_model
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.indexer.mapping import sentence_index, sentence_mapping
from trifuse.indexer.sentences.origin import Origin, meta_with_origin
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE

SEARCH = "from trifuse.deploy.cli import main; main()"
# "stroke" and "did" are at (1, 0). An outcome leaves it there, a population turns it to (1, 1) / √2.
TURNS = {"population": ([[1.0], [0.0]], [[0.0, 1.0]]), "outcome": ([[0.0], [0.0]], [[0.0, 0.0]])}
SENTENCES = {"Fewer died.": [1.0, 0.0], "Forty adults took part.": [0.6, 0.8]}


@pytest.fixture
def search(
    services: Any, client: OpenSearch, index_name: str, tmp_path: Path, tiny_adapter: Any
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Searches an index of one document of two sentences."""
    base = tiny_adapter.make_base(
        tmp_path / "base", {"stroke": (1.0, 0.0), "did": (1.0, 0.0)}, name="tiny-base", normalized=True
    )
    tiny_adapter.make_adapter(tmp_path / "adapter", base, TURNS)
    name = sentence_index(index_name)
    body = sentence_mapping(Space(read_model(base).space, SENTENCE_TEMPLATE), filters={})
    body["mappings"]["_meta"] = meta_with_origin(body["mappings"]["_meta"], Origin(index_name, "u"))
    client.indices.create(index=name, body=body)
    client.indices.create(index=index_name, body={"mappings": {"_meta": {"trifuse": {"sentences": name}}}})
    for number, (text, vector) in enumerate(SENTENCES.items()):
        place = {"parent_id": "7", "section": "body", "ordinal": number, "start": 0, "end": len(text)}
        client.index(index=name, id=f"s{number}", body={**place, "text": text, VECTOR_FIELD: vector})
    client.indices.refresh(index=name)

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", SEARCH, "search", index_name, *options]
        environ = {
            **services.environ(),
            "PATH": "",
            "COLUMNS": "100",
            "TRIFUSE_CACHE": str(tmp_path / "cache"),
        }
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environ, check=False)

    return run


def test_each_aspect_finds_its_own_sentence(search: Callable[..., Any]) -> None:
    for aspect, first in (("outcome", "Fewer died."), ("population", "Forty adults took part.")):
        done = search("stroke", "--aspect", aspect, "--adapter", "adapter", "--document", "7", "--json")
        assert done.returncode == 0, done.stderr
        response = json.loads(done.stdout)
        assert response["hits"]["hits"][0]["_source"]["text"] == first
        told = {"name": aspect, "by": "given", "words": None, "adapter": "tiny-aspects", "reason": None}
        assert response["trifuse"]["aspect"] == told


def test_a_question_in_a_table_for_people(search: Callable[..., Any]) -> None:
    options = ("--adapter", "adapter", "--encoder", "base", "--per-document", "2")
    done = search("did it reduce stroke", "--aspect", "auto", *options)
    assert done.returncode == 0, done.stderr
    assert "1 documents" in done.stdout
    assert done.stdout.index("Fewer died.") < done.stdout.index("Forty adults took part.")
    assert "7  body  0-11" in done.stdout
    assert "asked for: outcome, by the words 'did it reduce' (adapter tiny-aspects)" in done.stdout


def test_sentences_without_an_aspect_by_words(search: Callable[..., Any]) -> None:
    done = search("adults", "--sentences", "--section", "body", "--profile", "lexical=1", "--json")
    assert done.returncode == 0, done.stderr
    response = json.loads(done.stdout)
    assert [hit["_id"] for hit in response["hits"]["hits"]] == ["s1"]
    assert response["hits"]["hits"][0]["highlight"] == {"text": ["Forty <em>adults</em> took part."]}
    assert "aspect" not in response["trifuse"]


def test_a_filter_on_what_sentences_dont_repeat(search: Callable[..., Any]) -> None:
    done = search("stroke", "--sentences", "--filter", '{"term": {"tenant": "a"}}', "--profile", "lexical=1")
    assert done.returncode == 0, done.stderr
    assert "no field 'tenant' in the mapping" in done.stderr
    assert "sentences repeat those fields of documents that `attach --filters` named" in done.stderr


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (("--aspect", "dose", "--adapter", "adapter"), 2, "give one of population, outcome"),
        (("--aspect", "outcome", "--adapter", "nowhere"), 1, "no adapter 'nowhere'"),
        (("--aspect", "outcome"), 1, "no adapter is known for it: train one"),
        (("--aspect", "outcome", "--adapter", "adapter", "--document", "8"), 1, "has no document '8'"),
    ],
)
def test_what_goes_wrong_is_one_sentence(
    search: Callable[..., Any], options: tuple[str, ...], status: int, message: str
) -> None:
    done = search("stroke", *options)
    assert done.returncode == status, done.stderr
    assert message in done.stderr
    assert done.stdout == ""
