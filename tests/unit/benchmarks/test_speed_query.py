"""How the latency of both executions is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest
import speed_query
from hybrid_by_hand import DEPTH, PIPELINE, SIZE, SOURCE


def test_each_way_in_turn_in_all_orders_alike() -> None:
    """`client` takes 4 ms, `native` 2 ms and the peer 2 ms."""
    asked: list[str] = []

    def way(name: str, seconds: float) -> Callable[[str], Any]:
        def search(text: str) -> Any:
            asked.append(name)
            time.sleep(seconds)

        return search

    searches = {
        "client": way("client", 0.004),
        "native": way("native", 0.002),
        "by hand": way("by hand", 0.002),
    }
    ratios = speed_query.latency(searches, ["a", "b", "c"], rounds=11)
    assert list(ratios) == ["query_client_p50", "query_client_p95", "query_native_p50", "query_native_p95"]
    for name, expected in (("query_client_p50", 2.0), ("query_native_p50", 1.0)):
        assert ratios[name].unit == "ms"
        assert ratios[name].ratio == pytest.approx(expected, rel=0.5)
    orders = [tuple(asked[at : at + 3]) for at in range(0, len(asked), 3)]
    assert {order: orders.count(order) for order in orders} == dict.fromkeys(permutations(searches), 6)


def test_the_profile_asks_for_what_is_written_by_hand() -> None:
    profile = speed_query.CLIENT
    processor = PIPELINE["phase_results_processors"][0]["normalization-processor"]
    assert processor["normalization"]["technique"] == profile.normalization == "min_max"
    assert processor["combination"]["technique"] == profile.combination == "arithmetic_mean"
    weights = [profile.weights["lexical"], profile.weights["dense"]]
    assert processor["combination"]["parameters"]["weights"] == weights
    assert profile.depth == profile.neighbours == DEPTH
    assert profile.body is not None
    assert (profile.body["size"], profile.body["_source"]) == (SIZE, list(SOURCE))
