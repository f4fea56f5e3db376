"""Four ways of reading clicks, with a Redis of its own."""

from __future__ import annotations

import pytest
from click_read_forms import Reads
from click_reads import COMMANDS, measure
from click_stores import own_redis


@pytest.mark.integration
def test_all_ways_find_the_same_documents_and_the_packed_read_leaves_redis_alone() -> None:
    with own_redis() as redis:
        found = measure(Reads(redis, queries=300, documents=40, corpus=3000), keys=250, runs=3)
    assert list(found) == list(COMMANDS)
    for way, values in found.items():
        assert values["median_ms"] > 0
        assert (values["redis_ms"] > 0) == (way != "idle")
    assert found["packed"]["redis_ms"] < found["lua_packed"]["redis_ms"] / 5
    assert found["packed"]["redis_ms"] < found["lua_sorted_sets"]["redis_ms"] / 5
    assert found["packed"]["bytes"] > 250 * 40 * 20
    assert found["packed"]["memory_bytes_a_query"] < found["lua_sorted_sets"]["memory_bytes_a_query"]
