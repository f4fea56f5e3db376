"""The click-through rate expected at a rank."""

from __future__ import annotations

import pytest

from trifuse.worker.clicks.errors import BadCurve
from trifuse.worker.clicks.positions import DEFAULT_CURVE, checked_curve, expected


def test_the_rate_of_the_default_curve_falls_as_one_over_the_rank() -> None:
    assert len(DEFAULT_CURVE) == 20
    assert DEFAULT_CURVE[:5] == pytest.approx((0.30, 0.15, 0.10, 0.075, 0.06))
    assert DEFAULT_CURVE[19] == pytest.approx(0.015)


@pytest.mark.parametrize(
    ("position", "rate"), [(1, 0.5), (2, 0.25), (3, 0.0), (0, 0.0), (-1, 0.0), (None, 0.0)]
)
def test_expected_clicks_at_a_rank(position: int | None, rate: float) -> None:
    assert expected((0.5, 0.25), position) == rate


def test_a_curve_may_hold_whole_numbers() -> None:
    assert checked_curve([1, 0.5, 0]) == (1.0, 0.5, 0.0)


@pytest.mark.parametrize(
    "value",
    [[], [0.1] * 21, [1.5], [-0.1], [float("nan")], [float("inf")], ["0.3"], [None], [True], 0.3, {}, "0.3"],
)
def test_what_is_no_curve_is_said_with_the_remedy(value: object) -> None:
    with pytest.raises(BadCurve, match=r"expected 1 to 20 .* from 0 to 1, got .*clicks positions --save"):
        checked_curve(value)
