"""Click-through by rank: the smoothing of a curve, and intervals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.worker.clicks.positions import DEFAULT_CURVE, RANKS
from trifuse.worker.clicks.rates import RankRate, smooth

counts = st.tuples(st.integers(0, 10**6), st.floats(0, 1))


def test_without_pages_the_curve_is_the_default_one() -> None:
    assert smooth([0] * RANKS, [0] * RANKS) == pytest.approx(DEFAULT_CURVE)


def test_few_pages_are_drawn_to_the_shape_of_the_default_curve() -> None:
    # 100 pages are added: (80 + 100 * 0.3) / 200; half of that, as 0.15 is of 0.3: (0 + 100 * 0.275) / 200
    assert smooth([100, 100], [80, 0]) == pytest.approx([0.55, 0.1375])


def test_the_curve_goes_on_from_the_last_rank_that_was_seen() -> None:
    # (42 + 30) / 120 = 0.6 at rank 1; then as 0.3 / rank falls: 0.6 / 2, 0.6 / 3, 0.6 / 4
    assert smooth([20, 0, 0, 0], [42, 0, 0, 0]) == pytest.approx([0.6, 0.3, 0.2, 0.15])
    # Rarely clicked: (0 + 30) / 300 = 0.1, and below it no rise to the default's 0.15
    assert smooth([200, 0], [0, 0]) == pytest.approx([0.1, 0.05])
    # Two ranks that rise, 0.3 and (360 + 15) / 1,000, are 0.3375 together; from there 2/3
    assert smooth([900, 900, 0], [270, 360, 0]) == pytest.approx([0.3375, 0.3375, 0.225])


def test_neighbours_that_rise_get_their_mean_by_pages() -> None:
    # 0.3 of 1,000 and 0.375 of 1,000; then 0.3 of 1,000 and (900 + 15) / 2,000 = 0.4575 of 2,000
    assert smooth([900, 900], [270, 360]) == pytest.approx([0.3375, 0.3375])
    assert smooth([900, 1900], [270, 900]) == pytest.approx([(300 + 915) / 3000] * 2)


def test_a_rank_that_rises_above_two_pools_three() -> None:
    # 0.3, (120 + 15) / 1,000 = 0.135, (891 + 100 * 0.135 * 2/3) / 1,000 = 0.9: the last two give 0.5175,
    # all three 0.445
    assert smooth([900, 900, 900], [270, 120, 891]) == pytest.approx([0.445] * 3)


@given(st.lists(counts, min_size=1, max_size=RANKS))
def test_a_curve_falls_and_is_made_of_rates(ranks: list[tuple[int, float]]) -> None:
    rates = smooth([shown for shown, _ in ranks], [int(shown * share) for shown, share in ranks])
    assert len(rates) == len(ranks)
    assert all(0 <= rate <= 1 for rate in rates)
    assert all(left >= right for left, right in pairwise(rates))


def test_wilsons_interval() -> None:
    # (0.1 + 1.96²/200 ± 1.96 · sqrt(0.1 · 0.9 / 100 + 1.96² / 40,000)) / (1 + 1.96²/100)
    assert RankRate(1, 100, 10, 0.0).interval() == pytest.approx((0.05523, 0.17437), abs=1e-5)
    assert RankRate(1, 0, 0, 0.0).interval() == (0.0, 1.0)
    low, high = RankRate(1, 10, 0, 0.0).interval()
    assert (low, RankRate(1, 10, 10, 0.0).interval()[1]) == (0.0, 1.0)
    assert high == pytest.approx(0.27754, abs=1e-5)  # 1.96² / (10 + 1.96²)
