"""Settings of the click leg scored offline, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from log_tuning import (
    Log,
    Setting,
    believed,
    case,
    cross_validated,
    evidence,
    grid,
    ideal_dcg,
    ndcg,
    values_of,
)

# Four documents, three past queries: the first clicked for 0 (twice) and 1 (once), the second for 2, the
# third for nothing; 3 was clicked less for the second than was to be expected.
LOG = Log.of([[(0, 2.0, 0.0), (1, 1.0, 0.0)], [(2, 1.0, 0.0), (3, 1.0, 4.0)], []])
FOUND = np.array([0.0, 1.0, 0.0, 0.5])
GAINS = np.array([2.0, 0.0, 0.0, 1.0])
SIMILARITY = np.array([0.9, 0.8, 0.99])
ALL = np.array([True, True, True])


def test_a_log_weighs_as_the_ranker_does() -> None:
    """(2 - .2) / (2 + .2 · 2), (1 - .2) / (1 + .2 · 2), and (1 - .1) / (1 + .2)."""
    assert LOG.start.tolist() == [0, 2, 3, 3]
    assert LOG.doc.tolist() == [0, 1, 2]
    assert LOG.worth.tolist() == pytest.approx([0.75, 0.8 / 1.4, 0.75])


def test_a_case_has_the_nearest_past_queries_with_documents() -> None:
    """The third has none, though it is nearest. Supports: (0 + 1²) / (2 + 3), and 0."""
    one = case(FOUND, SIMILARITY, ALL, LOG, GAINS, 10)
    assert one.similarity.tolist() == [0.9, 0.8]
    assert one.support.tolist() == [0.2, 0.0]
    assert (one.doc.tolist(), one.query.tolist()) == ([0, 1, 2], [0, 0, 1])
    nearest = case(FOUND, SIMILARITY, np.array([False, True, True]), LOG, GAINS, 1)
    assert (nearest.similarity.tolist(), nearest.doc.tolist()) == ([0.8], [2])


def test_evidence_is_the_softmax_of_supported_similarities() -> None:
    """(0.9 + 0.5·0.2) / 0.1 = 10 against 8: shares 1 / (1 + e^-2) and the rest; doubt faces 9 and 8."""
    leg, logits = evidence(case(FOUND, SIMILARITY, ALL, LOG, GAINS, 10), 10, 0.1, 0.5)
    first = 1 / (1 + math.exp(-2))
    assert logits.tolist() == pytest.approx([9.0, 8.0])
    assert leg.tolist() == pytest.approx([0.75 * first, 0.8 / 1.4 * first, 0.75 * (1 - first), 0.0])


def test_m_keeps_the_nearest_alone() -> None:
    leg, _ = evidence(case(FOUND, SIMILARITY, ALL, LOG, GAINS, 10), 1, 0.1, 0.0)
    assert leg.tolist() == pytest.approx([0.75, 0.8 / 1.4, 0.0, 0.0])


def test_doubt_takes_its_share() -> None:
    assert believed(np.array([2.0, 2.0]), 2.0) == pytest.approx(2 / 3)
    assert believed(np.array([2.0]), -1e9) == 1.0
    assert believed(np.array([]), 2.0) == 0.0


def test_no_past_query_is_no_evidence() -> None:
    nobody = case(FOUND, SIMILARITY, ~ALL, LOG, GAINS, 10)
    leg, logits = evidence(nobody, 10, 0.1, 1.0)
    assert (leg.tolist(), len(logits)) == ([0.0, 0.0, 0.0, 0.0], 0)


def test_ndcg_has_linear_gains_and_counts_what_scores() -> None:
    """Ideal: 2 + 1/log2(3). Document 3 alone is ranked, first: gain 1."""
    ideal = 2 + 1 / math.log2(3)
    assert ideal_dcg(GAINS) == pytest.approx(ideal)
    assert ndcg(np.array([0.0, 0.0, 0.0, 0.7]), GAINS, ideal) == pytest.approx(1 / ideal)
    assert ndcg(np.array([3.0, 2.0, 0.0, 1.0]), GAINS, ideal) == pytest.approx((2 + 1 / math.log2(4)) / ideal)


def test_values_come_in_the_order_of_the_settings() -> None:
    """Without the log the ranking is 1, 3; with a heavy one 1 (1 + 5 · 0.57), 0 (5 · 0.75), 3."""
    one = case(FOUND, SIMILARITY, ALL, LOG, GAINS, 10)
    settings = grid(m=(1,), temperature=(0.1,), support=(0.0,), doubt=(-100.0,), weight=(0.0, 5.0))
    assert settings[1] == Setting(1, 0.1, 0.0, -100.0, 5.0)
    without, heavy = values_of(one, settings)
    assert without == pytest.approx((1 / math.log2(3)) / one_ideal())
    assert heavy == pytest.approx((2 / math.log2(3) + 1 / math.log2(4)) / one_ideal())


def one_ideal() -> float:
    return 2 + 1 / math.log2(3)


def test_a_fold_is_judged_by_what_the_others_chose() -> None:
    """Fold 0's queries like setting 1, fold 1's setting 0: each gets the other's choice."""
    values = np.array([[0.0, 0.0, 1.0], [0.8, 0.8, 0.0]])
    held = cross_validated(values, values, np.array([0, 0, 1]))
    assert held.chosen == [0, 1]
    assert held.held_out.tolist() == [0.0, 0.0, 0.0]
    assert held.best == 1
