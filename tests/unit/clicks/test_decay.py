"""Forward decay, worked out by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.decay import decayed_count, log2_add, log2_weight

DAY = 86_400.0


def fold(clicks: list[tuple[float, int]], half_life_days: float) -> float:
    first, *others = (log2_weight(when, half_life_days, count) for when, count in clicks)
    for weight in others:
        first = log2_add(first, weight)
    return first


def test_a_click_is_worth_half_after_each_half_life() -> None:
    kept = fold([(100 * DAY, 1)], half_life_days=10)
    assert decayed_count(kept, 100 * DAY, 10) == pytest.approx(1.0)
    assert decayed_count(kept, 110 * DAY, 10) == pytest.approx(0.5)
    assert decayed_count(kept, 130 * DAY, 10) == pytest.approx(0.125)


def test_clicks_of_several_ages_sum() -> None:
    # 3 clicks now, 4 clicks one half-life ago, 8 clicks three half-lives ago: 3 + 2 + 1
    clicks = [(100 * DAY, 3), (90 * DAY, 4), (70 * DAY, 8)]
    assert decayed_count(fold(clicks, 10), 100 * DAY, 10) == pytest.approx(6.0)


def test_two_equal_sums_double() -> None:
    assert log2_add(3.0, 3.0) == 4.0
    assert log2_add(10_000.0, 10_000.0) == 10_001.0


def test_what_is_far_below_adds_nothing_and_breaks_nothing() -> None:
    assert log2_add(20_000.0, -20_000.0) == 20_000.0
    assert decayed_count(0.0, 1e6 * DAY, 1) == 0.0
    assert math.isfinite(decayed_count(1e6, 0.0, 1))


@given(
    st.lists(st.tuples(st.floats(1.3e9, 1.9e9), st.integers(1, 1000)), min_size=2, max_size=40).flatmap(
        lambda clicks: st.tuples(st.just(clicks), st.permutations(clicks))
    ),
    st.sampled_from([1.0, 7.0, 90.0]),
)
def test_the_order_of_clicks_changes_a_count_by_less_than_1e_8(
    orders: tuple[list[tuple[float, int]], list[tuple[float, int]]], half_life: float
) -> None:
    one, other = (fold(order, half_life) for order in orders)
    assert 2.0 ** (one - other) == pytest.approx(1.0, abs=1e-8)
    plain = math.fsum(count * 2.0 ** ((when - 1.9e9) / (half_life * DAY)) for when, count in orders[0])
    assert decayed_count(one, 1.9e9, half_life) == pytest.approx(plain, rel=1e-8)
