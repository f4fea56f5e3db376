"""No document that any weights bring among the first is ruled out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.ranker.tuning.contenders import MISSING, contenders, places, refined

TABLES = st.integers(0, 2**32 - 1).map(np.random.default_rng)


def test_places_fall_with_the_score_and_are_shared_by_equal_ones() -> None:
    found = places(4, [(np.array([2, 0, 3]), np.array([5.0, 5.0, 1.0])), (np.array([], int), np.array([]))])
    assert found.tolist() == [[0, MISSING], [MISSING, MISSING], [0, MISSING], [-1, MISSING]]


def test_who_is_beaten_by_a_later_key_alone_stays_for_it_may_tie() -> None:
    """Rows 0 and 1 are equal and 2 beats both, but rounding may make it equal to 0, whose key is smaller."""
    assert contenders(np.array([[1], [1], [2]], np.int16), 1).tolist() == [0, 2]
    terms = np.array([[0.1], [0.1], [0.2]])
    assert refined(np.array([0, 2]), terms, np.array([[1.0]]), 1).tolist() == [2]


def test_a_difference_that_rounding_could_swallow_rules_nothing_out() -> None:
    terms = np.array([[0.1, 1.0], [0.1 + 1e-15, 1.0]])
    assert refined(np.array([0, 1]), terms, np.array([[1.0, 1.0]]), 1).tolist() == [0, 1]


@given(TABLES, st.integers(1, 40), st.integers(1, 3), st.integers(1, 6), st.booleans())
@settings(max_examples=300, deadline=None)
def test_what_is_left_is_exactly_what_fewer_than_k_beat(
    rng: np.random.Generator, documents: int, legs: int, k: int, coarse: bool
) -> None:
    found = rng.integers(-5 if coarse else -1000, 1, (documents, legs)).astype(np.int16)
    found[rng.random((documents, legs)) < 0.3] = MISSING
    expected = [
        row
        for row in range(documents)
        if sum(bool((found[other] >= found[row]).all()) for other in range(row)) < k
    ]
    assert contenders(found, k).tolist() == (expected if documents > k else list(range(documents)))


@given(TABLES, st.integers(2, 60), st.integers(1, 3), st.integers(1, 8), st.booleans())
@settings(max_examples=300, deadline=None)
def test_the_first_k_of_any_weights_are_among_them(
    rng: np.random.Generator, documents: int, legs: int, k: int, coarse: bool
) -> None:
    """Brute force: every document scored, a stable sort."""
    raw = rng.integers(0, 6, (documents, legs)) / 5 if coarse else rng.random((documents, legs))
    missing = rng.random((documents, legs)) < 0.4
    terms = np.where(missing, 0.0, raw)
    columns = []
    for leg in range(legs):
        rows = np.flatnonzero(~missing[:, leg])
        order = rows[np.argsort(-raw[rows, leg], kind="stable")]
        columns.append((order, raw[order, leg]))
    rows = contenders(places(documents, columns), k)
    weights = rng.dirichlet(np.ones(legs), 20) + 1e-9
    kept = refined(rows, terms, weights, k)
    for row in weights:
        scores = np.zeros(documents)
        for leg in range(legs):
            scores = scores + row[leg] * terms[:, leg]
        best = np.argsort(-scores, kind="stable")[:k]
        assert set(best.tolist()) <= set(kept.tolist())


@pytest.mark.parametrize("documents", [0, 1, 3])
def test_few_documents_are_all_contenders(documents: int) -> None:
    found = np.zeros((documents, 2), np.int16)
    assert contenders(found, 3).tolist() == list(range(documents))
