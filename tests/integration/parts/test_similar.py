"""Trials like one, like some parts, and by single parts' vectors, with an encoder of parts.

Titles count once, interventions twice, conditions three times; each word is a direction of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder import Encoder
from trifuse.ranker.errors import BodyError, DocumentMissing
from trifuse.ranker.similar import similar

ONE, TWIN, ITS_CONDITION, OTHER, EMPTY = (f"NCT0000000{number}" for number in range(1, 6))
TRIALS: dict[str, dict[str, Any]] = {
    ONE: {"brief_title": "aspirin", "conditions": ["asthma"]},
    TWIN: {"official_title": "aspirin", "conditions": ["asthma"]},
    ITS_CONDITION: {"brief_title": "pain", "conditions": ["asthma"]},
    OTHER: {"brief_title": "aspirin", "conditions": ["pain"]},
    EMPTY: {"status": "COMPLETED"},
}


@pytest.fixture
def index(
    index_name: str,
    tmp_path: Path,
    done: Callable[..., Any],
    embed_all: Callable[..., Any],
    model: Path,
    parts_encoder: Encoder,
) -> str:
    """The trials, with vectors of the whole and of each part."""
    file = tmp_path / "trials.jsonl"
    file.write_text("".join(json.dumps({"nct_id": key, **trial}) + "\n" for key, trial in TRIALS.items()))
    done("load", str(file), "--index", index_name, "--part-vectors", "--encoder", str(model))
    embed_all(index_name, parts_encoder)
    return index_name


def found(response: dict[str, Any]) -> list[tuple[str, float]]:
    """Ids and similarities."""
    hits = response["hits"]["hits"]
    return [(hit["_id"], pytest.approx(hit["trifuse"]["similarity"], abs=1e-5)) for hit in hits]


def test_trials_like_one_like_parts_and_by_a_part(
    client: OpenSearch, index: str, parts_encoder: Encoder, model: Path, done: Callable[..., Any]
) -> None:
    # (3, 1, 0) beside (3, 1, 0), (3, 0, 1) and (0, 1, 3)
    assert found(similar(client, None, index, doc_id=ONE)) == [
        (TWIN, 1.0),
        (ITS_CONDITION, 0.9),
        (OTHER, 0.1),
    ]

    # all parts of a trial are found as it is itself
    whole = {"title": "aspirin", "condition": "asthma"}
    assert found(similar(client, parts_encoder, index, parts=whole, size=2)) == [(ONE, 1.0), (TWIN, 1.0)]

    # a condition alone, (1, 0, 0): those of it stand first, whatever their titles
    alone = similar(client, parts_encoder, index, parts={"condition": ["asthma"]})
    assert found(alone) == [(each, 3 / 10**0.5) for each in (ONE, TWIN, ITS_CONDITION)] + [(OTHER, 0.0)]

    # an intervention, of which no trial has one, is compared with the whole all the same
    assert found(similar(client, parts_encoder, index, parts={"intervention": "pain"}, size=1)) == [
        (OTHER, 3 / 10**0.5)
    ]

    # by titles alone: of four trials the vectors are aspirin, aspirin, pain, aspirin
    titles = similar(client, None, index, doc_id=ONE, by="title")
    assert found(titles) == [(TWIN, 1.0), (OTHER, 1.0), (ITS_CONDITION, 0.0)]
    assert titles["trifuse"]["field"] == "trifuse_vector_title"
    by_condition = similar(client, parts_encoder, index, parts={"condition": "pain"}, by="condition", size=1)
    assert found(by_condition) == [(OTHER, 1.0)]

    with pytest.raises(BodyError, match="'condition' are compared by it alone: leave out 'title'"):
        similar(client, parts_encoder, index, parts=whole, by="condition")
    with pytest.raises(DocumentMissing, match=f"'{EMPTY}' has no vector"):
        similar(client, None, index, doc_id=EMPTY)
    with pytest.raises(DocumentMissing, match=f"'{ONE}' has no vector in the field 'trifuse_vector_outcome'"):
        similar(client, None, index, doc_id=ONE, by="outcome")

    told = done("similar", index, "--condition", "asthma", "--text", "title=aspirin", "--encoder", str(model))
    assert [hit["_id"] for hit in told["hits"]["hits"]] == [ONE, TWIN, ITS_CONDITION, OTHER]


def test_wrong_parts_are_wrong_usage(index: str, run: Callable[..., Any], model: Path) -> None:
    ended = run("similar", index, "--text", "dose=1 mg", "--encoder", str(model))
    assert ended.returncode == 2, ended.stderr
    assert (
        "has no part 'dose': its parts are title, intervention, condition, outcome, context" in ended.stderr
    )
