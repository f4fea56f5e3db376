"""Intervals and tests against values worked out by hand."""

from __future__ import annotations

from math import sqrt

import pytest

from trifuse.ranker.evaluation.significance import bootstrap_ci, holm, randomisation_p, t_test_p


def test_bootstrap_of_two_queries() -> None:
    """Means of two draws from 0 and 1 are 0, 0.5, 1 with 1/4, 1/2, 1/4: both tails hold more than 2.5 %."""
    assert bootstrap_ci([0.0, 1.0]) == (0.0, 1.0)
    assert bootstrap_ci([0.0, 1.0], confidence=0.4) == (0.5, 0.5)


def test_bootstrap_of_many_queries_is_close_to_the_normal_interval() -> None:
    """400 zeros and ones, half each: the mean's standard error is 0.5 / 20."""
    low, high = bootstrap_ci([0.0, 1.0] * 200)
    assert (low, high) == (pytest.approx(0.5 - 1.96 * 0.025, abs=0.004), pytest.approx(0.549, abs=0.004))


def test_bootstrap_is_the_same_each_time() -> None:
    values = [0.1, 0.9, 0.4, 0.3] * 500
    assert bootstrap_ci(values) == bootstrap_ci(values)


@pytest.mark.parametrize("values", [[], [[0.1]], [float("nan")]])
def test_what_is_no_row_of_numbers(values: list[float]) -> None:
    with pytest.raises(ValueError, match="one a query"):
        bootstrap_ci(values)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([0.5], 1.0),  # + and - reach it
        ([0.1, 0.2, 0.3], 2 / 8),  # +++ and ---
        ([0.1, 0.0, 0.2, 0.3, 0.0], 2 / 8),  # what is 0 has no sign
        ([0.3, 0.1, -0.1], 6 / 8),  # the sums are ±0.5, ±0.3, ±0.3, ±0.1
        ([0.0, 0.0], 1.0),
    ],
)
def test_randomisation_over_all_signs(differences: list[float], p: float) -> None:
    assert randomisation_p(differences) == p


def test_randomisation_by_drawn_signs() -> None:
    """20 equal differences: 2 of 2^20 signs reach the sum. Ten of 20 in favour: every sign does."""
    assert randomisation_p([0.1] * 20) < 0.001
    assert randomisation_p([0.1, -0.1] * 10) == 1.0


def test_t_test_of_three_differences() -> None:
    """1, 2, 3: t = 2 / (1 / sqrt 3); with 2 degrees of freedom p = 1 - t / sqrt(2 + t^2)."""
    t = 2 * sqrt(3)
    assert t_test_p([1, 2, 3]) == pytest.approx(1 - t / sqrt(2 + t * t), abs=1e-12)
    assert t_test_p([-1, -2, -3]) == t_test_p([1, 2, 3])


@pytest.mark.parametrize(("differences", "p"), [([0.0, 0.0], 1.0), ([0.5], 1.0), ([0.25, 0.25], 0.0)])
def test_t_test_at_the_edges(differences: list[float], p: float) -> None:
    assert t_test_p(differences) == p


def test_holm() -> None:
    """0.01 x 4; 0.02 x 3; 0.03 x 2 = 0.06; 0.9 x 1. Never less than before, never more than 1."""
    assert holm([0.9, 0.01, 0.03, 0.02]) == pytest.approx([0.9, 0.04, 0.06, 0.06])
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.6, 0.6]) == [1.0, 1.0]
    assert holm([]) == []
