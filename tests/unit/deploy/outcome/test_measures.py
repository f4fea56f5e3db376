"""Measures by hand, and against scikit-learn where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.deploy.outcome.measures import (
    MEASURES,
    accuracy,
    brier,
    calibration_error,
    measured,
    pr_auc,
    pr_auc_negative,
    reliability,
    roc_auc,
)

# Four trials: 0.9 came, 0.6 didn't, 0.6 came, 0.2 didn't.
POSITIVE = np.array([True, False, True, False])
PREDICTED = np.array([0.9, 0.6, 0.6, 0.2])


def test_accuracy() -> None:
    """The second is on the wrong side of 0.5: 3 of 4."""
    assert accuracy(POSITIVE, PREDICTED) == 0.75


def test_roc_auc_counts_a_tie_half() -> None:
    """Pairs: 0.9 > 0.6, 0.9 > 0.2, 0.6 = 0.6, 0.6 > 0.2: 3.5 of 4."""
    assert roc_auc(POSITIVE, PREDICTED) == 0.875


def test_pr_auc_takes_ties_together() -> None:
    """At 0.9: precision 1, recall 1/2. At 0.6: precision 2/3, recall 1. 1/2 + 1/2 * 2/3 = 5/6."""
    assert pr_auc(POSITIVE, PREDICTED) == pytest.approx(5 / 6)


def test_pr_auc_of_the_negatives() -> None:
    """From below: 0.2 (1 of 1, recall 1/2), then both of 0.6 (2 of 3, recall 1): 5/6 again."""
    assert pr_auc_negative(POSITIVE, PREDICTED) == pytest.approx(5 / 6)


def test_brier() -> None:
    """(0.01 + 0.36 + 0.16 + 0.04) / 4."""
    assert brier(POSITIVE, PREDICTED) == pytest.approx(0.1425)


def test_calibration_error() -> None:
    """Bins of 0.2 (none came), 0.6 (half came), 0.9 (all came): (0.2 + 2 * 0.1 + 0.1) / 4."""
    found = reliability(POSITIVE, PREDICTED)
    assert found.predicted == pytest.approx([0.2, 0.6, 0.9])
    assert found.observed == pytest.approx([0, 0.5, 1])
    assert found.trials.tolist() == [1, 2, 1]
    assert calibration_error(POSITIVE, PREDICTED) == pytest.approx(0.125)


def test_certainty_is_in_the_last_bin() -> None:
    assert reliability(np.array([True]), np.array([1.0])).trials.tolist() == [1]


def test_one_outcome_alone_has_no_curve() -> None:
    only = np.array([True, True])
    assert np.isnan(roc_auc(only, np.array([0.1, 0.2])))
    assert np.isnan(pr_auc(~only, np.array([0.1, 0.2])))


def test_a_constant_prediction_is_worth_nothing() -> None:
    """Half of the pairs, and precision at the base rate."""
    constant = np.full(4, 0.5)
    assert roc_auc(POSITIVE, constant) == 0.5
    assert pr_auc(POSITIVE, constant) == 0.5


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=2, max_size=40))
def test_as_scikit_learn_has_it(rows: list[tuple[bool, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    positive = np.array([found for found, _ in rows])
    predicted = np.array([value / 8 for _, value in rows])
    if positive.all() or not positive.any():
        return
    assert roc_auc(positive, predicted) == pytest.approx(metrics.roc_auc_score(positive, predicted))
    assert pr_auc(positive, predicted) == pytest.approx(metrics.average_precision_score(positive, predicted))
    assert brier(positive, predicted) == pytest.approx(metrics.brier_score_loss(positive, predicted))


def test_intervals_hold_the_value_and_are_the_same_again() -> None:
    positive = np.arange(200) % 3 > 0
    predicted = np.linspace(0.1, 0.9, 200)
    found = measured(positive, predicted, resamples=200)
    assert found == measured(positive, predicted, resamples=200)
    assert set(found) == set(MEASURES)
    for value in found.values():
        assert value.ci95[0] < value.ci95[1]
    assert found["accuracy"].ci95[0] < found["accuracy"].mean < found["accuracy"].ci95[1]


def test_resamples_without_both_outcomes_are_left_out() -> None:
    """Of two trials half of the resamples have one outcome alone; the others all give 1."""
    found = measured(np.array([True, False]), np.array([0.9, 0.1]), resamples=50)
    assert found["roc_auc"].ci95 == (1, 1)
