"""What a worker is told by its environment."""

from __future__ import annotations

import pytest

from trifuse.worker.clicks.counting import MAX_A_DAY, MIN_VISITORS
from trifuse.worker.settings import Settings


def test_the_bounds_of_clicks() -> None:
    assert (Settings().clicks_min_visitors, Settings().clicks_max_a_day) == (MIN_VISITORS, MAX_A_DAY)
    found = Settings.from_env({"TRIFUSE_CLICKS_MIN_VISITORS": "1", "TRIFUSE_CLICKS_MAX_A_DAY": "20"})
    assert (found.clicks_min_visitors, found.clicks_max_a_day) == (1, 20)
    assert Settings.from_env({"TRIFUSE_CLICKS_MIN_VISITORS": ""}).clicks_min_visitors == MIN_VISITORS


@pytest.mark.parametrize("value", ["0", "-1", "three", "1.5", "1001", "٣"])
def test_bounds_that_are_none(value: str) -> None:
    with pytest.raises(ValueError, match=r"TRIFUSE_CLICKS_MIN_VISITORS.*from 1 to 1,000"):
        Settings.from_env({"TRIFUSE_CLICKS_MIN_VISITORS": value})
