"""Trials by an encoder of parts: load, a real worker, OpenSearch, searches.

Titles count once, interventions twice, conditions three times, outcomes four times, contexts five times.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import Encoder
from trifuse.encoder.marks import EMPTY_HASH
from trifuse.encoder.spaces import part_fields, serving_field, spaces_in_meta
from trifuse.indexer.sync import sync
from trifuse.ranker import HybridRanker

TITLE, CONDITION, EMPTY, CONTEXT = (f"NCT0000000{number}" for number in range(1, 5))
TRIALS: dict[str, dict[str, Any]] = {
    TITLE: {"brief_title": "aspirin", "official_title": "aspirin"},
    CONDITION: {"brief_title": "aspirin", "conditions": ["asthma"], "condition_mesh": ["pain"]},
    EMPTY: {"status": "COMPLETED"},
    CONTEXT: {"eligibility": "pain " * 10_000},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "trials.jsonl"
    path.write_text("".join(json.dumps({"nct_id": key, **trial}) + "\n" for key, trial in TRIALS.items()))
    return path


def test_from_a_file_to_a_ranking(
    client: OpenSearch,
    index_name: str,
    done: Callable[..., Any],
    file: Path,
    model: Path,
    parts_encoder: Encoder,
    worker_factory: Callable[..., Any],
) -> None:
    encoder = {"TRIFUSE_ENCODER": str(model)}
    worker_factory(**encoder)
    loaded = done("load", str(file), "--index", index_name, "--part-vectors", **encoder)
    assert (loaded["indexed"], loaded["rejected"], loaded["hints_error"]) == (4, [], None)
    synced = done("sync", index_name, "--wait", **encoder)
    # four trials, however many vectors each has
    assert (synced["pending"], synced["failed"], synced["embedded"] + synced["skipped"]) == (0, 0, 4)

    documents = {key: client.get(index=index_name, id=key)["_source"] for key in TRIALS}
    assert documents[TITLE]["trifuse_vector"] == pytest.approx([0, 1, 0])
    assert documents[CONDITION]["trifuse_vector"] == pytest.approx([3 / 10**0.5, 1 / 10**0.5, 0], abs=1e-6)
    assert documents[CONDITION]["trifuse_vector_title"] == pytest.approx([0, 1, 0])
    assert documents[CONDITION]["trifuse_vector_condition"] == pytest.approx([1, 0, 0])
    assert "trifuse_vector_outcome" not in documents[CONDITION]
    assert documents[CONTEXT]["trifuse_vector"] == pytest.approx([0, 0, 1])
    assert "trifuse_vector_title" not in documents[CONTEXT]
    assert "trifuse_vector" not in documents[EMPTY]
    marks = documents[EMPTY]["trifuse"]["fields"]
    assert {mark["hash"] for mark in marks.values()} == {EMPTY_HASH}

    again = done("load", str(file), "--index", index_name, **encoder)
    assert (again["indexed"], again["unchanged"], again["hinted"]) == (0, 4, 0)

    found = done("search", index_name, "asthma", "--size", "4", **encoder)
    assert found["hits"]["hits"][0]["_id"] == CONDITION
    assert found["trifuse"]["legs"]["dense"]["state"] == "ok"
    mapping = client.indices.get_mapping(index=index_name)[index_name]["mappings"]
    assert serving_field(mapping["_meta"]) == "trifuse_vector"
    fields = part_fields(mapping["_meta"], "trifuse_vector")
    assert fields == {
        name: f"trifuse_vector_{name}" for name in ("title", "intervention", "condition", "outcome")
    }

    ranked = HybridRanker(client, parts_encoder).search(index_name, text="pain")
    assert ranked["hits"]["hits"][0]["_id"] == CONTEXT
    (query,) = parts_encoder.encode_queries(["asthma"])
    near = client.search(
        index=index_name,
        body={"query": {"knn": {fields["condition"]: {"vector": query.tolist(), "k": 4}}}},
    )
    assert [hit["_id"] for hit in near["hits"]["hits"]] == [CONDITION]
    assert np.asarray(documents[CONDITION]["trifuse_vector_condition"]) @ query == pytest.approx(1)


def test_an_edited_part_makes_only_its_own_vectors_anew(
    client: OpenSearch,
    index_name: str,
    run: Callable[..., Any],
    file: Path,
    model: Path,
    parts_encoder: Encoder,
    embed_all: Callable[..., Any],
) -> None:
    alone = {"TRIFUSE_BROKER_URL": "redis://127.0.0.1:9/0"}
    ended = run("load", str(file), "--index", index_name, "--encoder", str(model), "--part-vectors", **alone)
    assert ended.returncode == 0, ended.stderr
    report = embed_all(index_name, parts_encoder)
    assert (report.pending, report.failed) == (0, 0)
    before = client.get(index=index_name, id=CONDITION)["_source"]["trifuse"]["fields"]
    client.update(index=index_name, id=CONDITION, body={"doc": {"conditions": ["pain"]}}, refresh=True)
    # two of its vectors are of an older text: one document is pending
    assert sync(client, index_name, lambda *_: None).pending == 1
    embed_all(index_name, parts_encoder)
    source = client.get(index=index_name, id=CONDITION)["_source"]
    assert source["trifuse_vector_condition"] == pytest.approx([0, 0, 1])
    assert source["trifuse_vector"] == pytest.approx([0, 1 / 10**0.5, 3 / 10**0.5], abs=1e-6)
    changed = {name for name, mark in source["trifuse"]["fields"].items() if mark != before[name]}
    assert changed == {"trifuse_vector", "trifuse_vector_condition"}


def test_vectors_of_parts_come_to_an_index_that_lacks_them(
    client: OpenSearch,
    index_name: str,
    run: Callable[..., Any],
    file: Path,
    model: Path,
    parts_encoder: Encoder,
    embed_all: Callable[..., Any],
) -> None:
    load = ["load", str(file), "--index", index_name, "--encoder", str(model)]
    assert run(*load, TRIFUSE_BROKER_URL="redis://127.0.0.1:9/0").returncode == 0
    embed_all(index_name, parts_encoder)
    assert list(
        spaces_in_meta(client.indices.get_mapping(index=index_name)[index_name]["mappings"]["_meta"])
    ) == ["trifuse_vector"]
    for _ in range(2):  # again, nothing changes
        assert run(*load, "--part-vectors", TRIFUSE_BROKER_URL="redis://127.0.0.1:9/0").returncode == 0
        meta = client.indices.get_mapping(index=index_name)[index_name]["mappings"]["_meta"]
        assert len(spaces_in_meta(meta)) == 5
        assert serving_field(meta) == "trifuse_vector"
    assert embed_all(index_name, parts_encoder).pending == 0
    source = client.get(index=index_name, id=CONDITION)["_source"]
    assert source["trifuse_vector_condition"] == pytest.approx([1, 0, 0])


def test_what_doesnt_go_together_is_refused_before_anything_is_written(
    client: OpenSearch, index_name: str, run: Callable[..., Any], file: Path, model: Path
) -> None:
    ended = run("load", str(file), "--index", index_name, "--part-vectors", COLUMNS="200")
    assert ended.returncode == 2
    assert "the encoder bge-small-en-v1.5-int8 has no parts" in " ".join(ended.stderr.split())
    assert not client.indices.exists(index=index_name)
    alone = {"TRIFUSE_BROKER_URL": "redis://127.0.0.1:9/0"}
    assert run("load", str(file), "--index", index_name, "--encoder", str(model), **alone).returncode == 0
    ended = run("load", str(file), "--index", index_name, **alone)
    assert ended.returncode == 1
    assert "encoder 'bge-small-en-v1.5-int8' makes 384" in ended.stderr
