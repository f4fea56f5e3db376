"""Weights, softmax and scores, worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.clicks.records import Sums
from trifuse.ranker.clicks.weights import (
    best_documents,
    clicked,
    document_scores,
    document_weights,
    softmax,
    worth,
)


def sums(rows: Sequence[tuple[int, int, float, float]], docs: int = 3) -> Sums:
    """Rows of document, query, clicks, expected."""
    doc, query, clicks, expected = (list(part) for part in zip(*rows, strict=True))
    return Sums(
        np.arange(docs, dtype=np.uint64),
        np.array(doc, np.int64),
        np.array(query, np.int64),
        np.array(clicks, np.float64),
        np.array(expected, np.float64),
    )


ROWS = sums([(0, 0, 4.0, 1.0), (0, 1, 0.5, 0.0), (1, 0, 1.0, 0.0), (2, 1, 2.0, 7.0)])


def test_the_smaller_the_temperature_the_more_the_nearest_weighs() -> None:
    # e^(0.1 / 0.1) against 1
    assert softmax(np.array([0.9, 0.8]), 0.1) == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)])
    assert softmax(np.array([0.9, 0.8]), 1e-6) == pytest.approx([1.0, 0.0])
    assert softmax(np.array([]), 1.0).tolist() == []


def test_doubt_takes_its_share() -> None:
    # e^1, e^0 and, of doubt, e^2
    total = math.e + 1 + math.e**2
    assert softmax(np.array([0.9, 0.8]), 0.1, 1.0) == pytest.approx([math.e / total, 1 / total])
    assert softmax(np.array([0.9, 0.8]), 0.1, -1e9).tolist() == softmax(np.array([0.9, 0.8]), 0.1).tolist()
    assert softmax(np.array([-1e9]), 0.1, 0.5).tolist() == [0.0]
    assert softmax(np.array([]), 1.0, 0.5).tolist() == []


@pytest.mark.parametrize(("doubt", "shares"), [(0.5, [1.0, 0.0]), (1.0, [0.0, 0.0]), (-math.inf, [1.0, 0.0])])
def test_the_smallest_temperature_leaves_the_most_similar(doubt: float, shares: list[float]) -> None:
    assert softmax(np.array([0.9, 0.1]), 5e-324, doubt).tolist() == shares


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(1e-3, 1e3))
def test_a_softmax_sums_to_one(values: list[float], temperature: float) -> None:
    shares = softmax(np.array(values), temperature)
    assert shares.sum() == pytest.approx(1.0)
    assert ((shares >= 0) & (shares <= 1)).all()


def test_relevant_is_one_for_whatever_was_clicked() -> None:
    assert document_weights(ROWS, 2, "relevant", 1.0).tolist() == [1.0, 1.0, 1.0, 1.0]


def test_share_is_of_the_clicks_of_the_querys_most_clicked_document() -> None:
    assert document_weights(ROWS, 2, "share", 1.0).tolist() == [1.0, 0.25, 0.25, 1.0]


def test_expected_is_what_chance_and_one_visitor_dont_explain() -> None:
    """Chance at four clicks for the best: .4 beside what ranks explain; at two: .2.

    (4 - 1 - 1 - .4) / (4 + .5 · 4), (.5 - .2) / (.5 + .5 · 2), (1 - .4) / (1 + .5 · 4); 2 is less than 7.
    """
    assert document_weights(ROWS, 2, "expected", 0.5) == pytest.approx([1.6 / 6, 0.2, 0.2, 0.0])


def test_a_click_at_a_low_rank_is_worth_more_than_one_at_the_top() -> None:
    at_first, at_tenth = sums([(0, 0, 1.0, 0.3)]), sums([(0, 0, 1.0, 0.03)])
    assert document_weights(at_first, 1, "expected", 0.2) < document_weights(at_tenth, 1, "expected", 0.2)


def test_one_visitor_alone_is_nothing_where_others_clicked_ten_times() -> None:
    """A single click beside a best of 10 is worth 0, beside one of 5 (1 - .5) / (1 + .2 · 5)."""
    hot, warm = sums([(0, 0, 10.0, 0.0), (1, 0, 1.0, 0.0)]), sums([(0, 0, 5.0, 0.0), (1, 0, 1.0, 0.0)])
    assert document_weights(hot, 1, "expected", 0.2)[1] == 0.0
    assert document_weights(warm, 1, "expected", 0.2)[1] == pytest.approx(0.25)


def test_rows_that_are_worth_nothing_go() -> None:
    rows, weights = worth(sums([(0, 0, 10.0, 0.0), (1, 0, 1.0, 0.0)]), np.array([0.5, 0.0]))
    assert (rows.doc.tolist(), rows.clicks.tolist(), weights.tolist()) == ([0], [10.0], [0.5])


def test_what_was_only_shown_is_no_clicked_document() -> None:
    kept = clicked(sums([(0, 0, 1.0, 0.5), (1, 0, 0.0, 2.0), (2, 1, 3.0, 0.0)]))
    assert (kept.doc.tolist(), kept.query.tolist(), kept.clicks.tolist()) == ([0, 2], [0, 1], [1.0, 3.0])
    assert kept.expected.tolist() == [0.5, 0.0]


def test_a_document_scores_the_sum_over_its_queries() -> None:
    scores = document_scores(ROWS, np.array([1.0, 0.5, 0.25, 1.0]), np.array([0.8, 0.2]))
    assert scores == pytest.approx([0.8 + 0.1, 0.2, 0.2])


def test_the_best_come_first_and_ties_by_position() -> None:
    scores = np.array([0.5, 0.0, 0.9, 0.5, 0.5, 0.1])
    assert best_documents(scores, 10).tolist() == [2, 0, 3, 4, 5]
    assert best_documents(scores, 3).tolist() == [2, 0, 3]
    assert best_documents(np.zeros(2), 3).tolist() == []


@given(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), max_size=30), st.integers(1, 12))
def test_the_best_are_the_head_of_all_sorted(scores: list[float], most: int) -> None:
    in_order = sorted((-score, place) for place, score in enumerate(scores) if score > 0)
    assert best_documents(np.array(scores), most).tolist() == [place for _, place in in_order[:most]]
