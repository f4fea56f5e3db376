"""The normal form of a query, and the search for similar ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.spaces import EncoderSpace
from trifuse.ranker.past_queries import (
    normalize_query,
    queries_index,
    query_id,
    query_space,
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


def test_the_search_is_restricted_to_one_space_and_fetches_no_vectors() -> None:
    body = similar_queries_body(np.array([1, 0, 0], np.float32), SPACE, m=7)
    knn = body["query"]["knn"]["trifuse_vector"]
    assert (body["size"], knn["k"], knn["vector"], body["_source"]) == (7, 7, [1.0, 0.0, 0.0], False)
    assert knn["filter"] == {"term": {"trifuse.fields.trifuse_vector.space": query_space(SPACE).id}}


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
