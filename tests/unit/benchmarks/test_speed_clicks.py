"""How the latency of the click leg is measured."""

from __future__ import annotations

import time
from typing import Any

import pytest
import speed_clicks

from trifuse.ranker import Profile


class SlowRanker:
    """Takes 2 ms for a search, and 4 ms with the click leg, which answers for every other text."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def search(self, index: str, *, text: str, profile: Profile) -> dict[str, Any]:
        self.asked.append((text, profile.name))
        clicks = profile.weights["clicks"] > 0
        time.sleep(0.004 if clicks else 0.002)
        state = ("ok" if text == "a" else "empty") if clicks else "off"
        return {"trifuse": {"legs": {"clicks": {"state": state}}}}


def test_both_ways_in_turn_and_who_is_first_alternates() -> None:
    ranker = SlowRanker()
    ratios, answered = speed_clicks.latency(ranker, "i", ["a", "b"], rounds=10)  # type: ignore[arg-type]
    assert answered == 0.5
    for name in ("clicks_latency_p50", "clicks_latency_p95"):
        ratio = ratios[name]
        assert ratio.unit == "ms"
        assert ratio.ours >= 4
        assert ratio.peer >= 2
        assert ratio.ratio == pytest.approx(2, rel=0.5)
    ways = [way for _, way in ranker.asked]
    assert len(ways) == 11 * 2 * 2
    pairs = [tuple(ways[n : n + 2]) for n in range(0, len(ways), 2)]
    assert {frozenset(pair) for pair in pairs} == {frozenset({"with", "without"})}
    assert pairs.count(("with", "without")) == pairs.count(("without", "with")) == 11
