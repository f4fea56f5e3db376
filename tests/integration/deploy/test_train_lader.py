"""Hard negatives from a real index, and a model from judgements."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.cli.training_corpus import CorpusDocument
from trifuse.deploy.cli.training_negatives import KEPT, mined_negatives, temporary_index

pytestmark = pytest.mark.integration

DOCUMENTS = [
    CorpusDocument("heart", "Heart attack", "Aspirin after a heart attack."),
    CorpusDocument("failing", "Heart failure", "Diuretics in a failing heart."),
    CorpusDocument("lung", "Lung cancer", "Screening for lung cancer."),
    *(CorpusDocument(f"filler{number:02}", "", f"A heart in group {number}.") for number in range(40)),
]
QUERIES = {"1": "heart attack", "2": "lung cancer screening", "3": "nothing of this"}
RELEVANT = {"1": {"heart"}, "2": {"lung"}}


def test_negatives_match_the_query_and_nobody_judged_them_relevant(client: OpenSearch) -> None:
    with temporary_index(client, DOCUMENTS) as index:
        found = mined_negatives(client, index, QUERIES, RELEVANT, seed=0)
        again = mined_negatives(client, index, QUERIES, RELEVANT, seed=0)
        other = mined_negatives(client, index, QUERIES, RELEVANT, seed=1)
    assert found == again != other
    assert len(found["1"]) == len(set(found["1"])) == KEPT
    assert set(found["1"]) <= {document.id for document in DOCUMENTS} - {"heart", "lung"}
    assert found["2"] == ()  # only the relevant document holds a word of it
    assert not client.indices.exists(index=index)


def test_a_failed_run_leaves_no_index(client: OpenSearch) -> None:
    with pytest.raises(RuntimeError), temporary_index(client, DOCUMENTS) as index:
        raise RuntimeError
    assert not client.indices.exists(index=index)


@pytest.mark.train
@pytest.mark.skipif(not importlib.util.find_spec("torch"), reason="needs the extra train")
def test_from_judgements_to_a_model(services, client: OpenSearch, tmp_path: Path) -> None:
    """From bge-small, with one layer trained for two steps on a few tokens: what is tried is the way."""
    (tmp_path / "queries.tsv").write_text("".join(f"{id_}\t{text}\n" for id_, text in QUERIES.items()))
    (tmp_path / "qrels").write_text("1 0 heart 1\n1 0 failing 1\n2 0 heart 1\n")
    (tmp_path / "corpus.tsv").write_text("".join("\t".join(each) + "\n" for each in DOCUMENTS))
    files = [
        argument
        for option, file in (("--queries", "queries.tsv"), ("--qrels", "qrels"), ("--corpus", "corpus.tsv"))
        for argument in (option, str(tmp_path / file))
    ]
    options = ["--small", "--steps", "2", "--batch", "2", "--document-tokens", "8", "--trained-layers", "1"]
    command = [
        sys.executable,
        "-c",
        "from trifuse.deploy.cli import main; main()",
        "train",
        "lader",
        *files,
        *options,
    ]
    done = subprocess.run(
        [*command, "--out", str(tmp_path / "model"), "--json", "--opensearch", services.opensearch_url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["steps"], said["model"], said["checkpoint"]) == (2, "model", "bge-small-en-v1.5")
    assert said["parity"] >= 0.9999
    described = json.loads((tmp_path / "model" / "trifuse.json").read_text())
    assert (described["dimension"], described["licence"], described["similarity"]) == (384, "MIT", "dot")
    assert not list(client.indices.get(index="trifuse-training-*"))
