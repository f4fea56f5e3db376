"""Sentences of trials by an encoder of parts: each is a text of the part `title`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import Encoder
from trifuse.encoder.spaces import spaces_in_meta

ALONE = {"TRIFUSE_BROKER_URL": "redis://127.0.0.1:9/0"}


def test_short_sentences_are_found_among_those_of_whole_trials(
    client: OpenSearch,
    index_name: str,
    run: Callable[..., Any],
    done: Callable[..., Any],
    tmp_path: Path,
    model: Path,
    parts_encoder: Encoder,
    embed_all: Callable[..., Any],
) -> None:
    trials = [
        {
            "nct_id": "NCT00000001",
            "brief_title": "pain",
            "brief_summary": "Adults had asthma before. All took aspirin daily.",
        },
        {"nct_id": "NCT00000002", "brief_title": "asthma", "eligibility": "No pain at present."},
    ]
    file = tmp_path / "trials.jsonl"
    file.write_text("".join(json.dumps(trial) + "\n" for trial in trials))
    encoder = {"TRIFUSE_ENCODER": str(model)}
    ended = run("load", str(file), "--index", index_name, "--sentences", **encoder, **ALONE)
    assert ended.returncode == 0, ended.stderr
    assert embed_all(index_name, parts_encoder).pending == 0

    sentences = f"{index_name}-trifuse-sentences"
    (space,) = spaces_in_meta(
        client.indices.get_mapping(index=sentences)[sentences]["mappings"]["_meta"]
    ).values()
    assert (space.encoder, space.template.parts) == (parts_encoder.space, ())
    # of four words "asthma" alone has a direction
    found = done("search", sentences, "asthma", "--size", "1", **encoder)
    (hit,) = found["hits"]["hits"]
    assert hit["_source"]["text"] == "Adults had asthma before."
    assert hit["_source"]["parent_id"] == "NCT00000001"
    stored = client.get(index=sentences, id=hit["_id"], routing=hit.get("_routing"))["_source"]
    assert stored["trifuse_vector"] == pytest.approx([1, 0, 0])
    (query,) = parts_encoder.encode_queries([{"title": "asthma"}])
    assert query == pytest.approx([1, 0, 0])

    found = done("search", sentences, "pain", "--size", "1", **encoder)
    assert found["hits"]["hits"][0]["_source"]["text"] == "No pain at present."
    assert found["trifuse"]["legs"]["dense"]["state"] == "ok"
