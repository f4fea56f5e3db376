"""Grades from clicks over expected clicks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.worker.clicks.coec import graded, smoothed_coec

numbers = st.floats(0, 1e6)


def test_clicks_over_expected_clicks_are_drawn_to_one() -> None:
    # (3 + 1) / (1 + 1), (0 + 1) / (1 + 1), (300 + 1) / (100 + 1); nothing known is 1
    found = smoothed_coec(np.array([3.0, 0.0, 300.0, 0.0]), np.array([1.0, 1.0, 100.0, 0.0]))
    assert found.tolist() == pytest.approx([2.0, 0.5, 301 / 101, 1.0])


@pytest.mark.parametrize(
    ("grades", "expected"),
    [(1, [0, 0, 1, 1, 1, 1, 1]), (2, [0, 0, 1, 1, 2, 2, 2]), (3, [0, 0, 1, 1, 2, 2, 3])],
)
def test_each_grade_begins_at_twice_the_one_below(grades: int, expected: list[int]) -> None:
    assert graded(np.array([0.0, 0.99, 1.0, 1.99, 2.0, 3.99, 4.0]), grades).tolist() == expected


@given(numbers, numbers, st.floats(0, 1e6), st.integers(1, 10))
def test_more_clicks_never_lower_a_grade(clicks: float, expected: float, more: float, grades: int) -> None:
    values = smoothed_coec(np.array([clicks, clicks + more]), np.array([expected, expected]))
    fewer, greater = graded(values, grades).tolist()
    assert 0 <= fewer <= greater <= grades
