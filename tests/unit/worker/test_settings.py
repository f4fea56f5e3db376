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


def test_how_often_to_sweep_and_how_long_a_search_may_take() -> None:
    assert (Settings().sweep_s, Settings().max_search_ms) == (600, None)
    found = Settings.from_env({"TRIFUSE_SWEEP_S": "0", "TRIFUSE_MAX_SEARCH_MS": "250"})
    assert (found.sweep_s, found.max_search_ms) == (0, 250)
    with pytest.raises(ValueError, match=r"TRIFUSE_SWEEP_S is '-5'.*from 0 to 86,400"):
        Settings.from_env({"TRIFUSE_SWEEP_S": "-5"})
    with pytest.raises(ValueError, match=r"TRIFUSE_MAX_SEARCH_MS is '0'.*from 1 to 60,000"):
        Settings.from_env({"TRIFUSE_MAX_SEARCH_MS": "0"})


@pytest.mark.parametrize("value", ["0", "-1", "three", "1.5", "1001", "٣"])
def test_bounds_that_are_none(value: str) -> None:
    with pytest.raises(ValueError, match=r"TRIFUSE_CLICKS_MIN_VISITORS.*from 1 to 1,000"):
        Settings.from_env({"TRIFUSE_CLICKS_MIN_VISITORS": value})
