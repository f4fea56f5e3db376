"""The normal form of a query, and the search for similar ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.spaces import EncoderSpace, meta_with_space
from trifuse.ranker.clicks.past_queries import (
    normalize_query,
    queries_index,
    query_field,
    query_id,
    query_space,
    read_similar_queries,
    similar_queries_body,
    similarity_of,
)

SPACE = EncoderSpace("tiny", "1", "fp32", "cls", 3, True, "cosine")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Asthma", "asthma"),
        ("  asthma \t in\nchildren  ", "asthma in children"),
        ("what is asthma?", "what is asthma"),
        ("asthma ?!..", "asthma"),
        ("ＡＳＴＨＭＡ", "asthma"),  # full width
        ("Straße", "strasse"),
        ("cafe\u0301", "caf\u00e9"),
        ("il\x002\x9f receptor", "il 2 receptor"),
        ("half \ud800 a pair", "half a pair"),
        ("vitamin (d)", "vitamin (d)"),
        ("?!", ""),
        ("\u00a0 \u2003", ""),
        ("", ""),
    ],
)
def test_normal_form(text: str, expected: str) -> None:
    assert normalize_query(text) == expected


@given(st.text(st.characters(exclude_categories=())))
def test_the_normal_form_of_a_normal_form_is_itself(text: str) -> None:
    once = normalize_query(text)
    assert normalize_query(once) == once
    once.encode()


def test_ids_are_24_hex_digits_and_differ() -> None:
    assert len(query_id("asthma")) == 24
    assert query_id("asthma") == query_id("asthma") != query_id("asthma in children")
    assert queries_index("trials") == "trifuse-queries-trials"


def test_the_search_fetches_no_vectors_and_tells_of_other_spaces_or_keeps_them_out() -> None:
    body = similar_queries_body(np.array([1, 0, 0], np.float32), SPACE, m=7)
    assert body["query"]["knn"]["trifuse_vector"] == {"vector": [1.0, 0.0, 0.0], "k": 7}
    assert (body["size"], body["stored_fields"]) == (7, "_none_")
    assert body["docvalue_fields"] == ["normalized", "trifuse.fields.trifuse_vector.space"]
    filtered = similar_queries_body(np.array([1, 0, 0], np.float32), SPACE, m=7, filtered=True)
    assert filtered["query"]["knn"]["trifuse_vector"]["filter"] == {
        "term": {"trifuse.fields.trifuse_vector.space": query_space(SPACE).id}
    }


def test_of_two_fields_the_one_of_the_encoders_space_is_searched() -> None:
    other = replace(SPACE, encoder="other")
    meta = meta_with_space(None, "trifuse_vector", query_space(other))
    assert query_field(meta, other) == "trifuse_vector"
    assert query_field(meta, SPACE) == "trifuse_vector"  # none is of the space: marks tell
    meta = meta_with_space(meta, "trifuse_vector_2", query_space(SPACE))
    assert query_field(meta, SPACE) == "trifuse_vector_2"
    body = similar_queries_body(np.array([1, 0, 0], np.float32), SPACE, m=7, field="trifuse_vector_2")
    assert body["query"]["knn"].keys() == {"trifuse_vector_2"}
    assert body["docvalue_fields"] == ["normalized", "trifuse.fields.trifuse_vector_2.space"]


@pytest.mark.parametrize(
    ("score", "kind", "expected"),
    [
        (1.0, "cosine", 1.0),
        (0.5, "cosine", 0.0),
        (0.0, "cosine", -1.0),
        (4.0, "dot", 3.0),
        (1.0, "dot", 0.0),
        (0.25, "dot", -3.0),
    ],
)
def test_similarities_come_back_from_scores(score: float, kind: str, expected: float) -> None:
    assert similarity_of(score, kind) == pytest.approx(expected)  # type: ignore[arg-type]


def hit(score: float, normalized: str, *spaces: str) -> dict[str, Any]:
    fields = {"normalized": [normalized], "trifuse.fields.trifuse_vector.space": list(spaces)}
    return {"_index": "trifuse-queries-i", "_score": score, "fields": fields}


def test_the_answer_is_normal_forms_and_similarities() -> None:
    ours = query_space(SPACE).id
    hits = [hit(0.98, "asthma", ours), hit(0.75, "copd", ours)]
    found = read_similar_queries(msgspec.json.encode({"took": 3, "hits": {"hits": hits}}), SPACE)
    assert found == ([("asthma", pytest.approx(0.96)), ("copd", 0.5)], True)
    assert read_similar_queries(b'{"hits": {"hits": []}}', SPACE) == ([], True)


def test_past_queries_of_another_space_are_left_out_and_told_of() -> None:
    marked = hit(0.9, "copd", query_space(SPACE).id)
    unmarked = {"_score": 0.8, "fields": {"normalized": ["stroke"]}}
    for other in (hit(0.98, "asthma", "other-1"), unmarked):
        found = read_similar_queries(msgspec.json.encode({"hits": {"hits": [other, marked]}}), SPACE)
        assert found == ([("copd", pytest.approx(0.8))], False)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{}",
        b'{"hits": {"hits": [{"_score": 1.0}]}}',
        b'{"hits": {"hits": [{"_score": 1.0, "fields": {"normalized": []}}]}}',
        b'{"hits": {"hits": [{"_score": null, "fields": {"normalized": ["a"]}}]}}',
    ],
)
def test_another_answer_is_refused(answer: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        read_similar_queries(answer, SPACE)
