"""Every Redis key, its slot and its lifetime."""

from __future__ import annotations

import pytest
from redis.crc import key_slot

from trifuse.ranker import keys


@pytest.mark.parametrize("index", ["trials", "a}b", "{", "}", "a{b}c", "Zürich", "x" * 255])
def test_c4_all_keys_of_one_index_share_a_slot(index: str) -> None:
    found = {
        key_slot(key.encode())
        for key in (
            keys.queries_key(index, 90.0),
            keys.docs_key(index, 90.0),
            keys.few_key(index, 90.0),
            keys.visits_key(index, 90.0, 2e9),
            keys.clicks_key(index, 90.0, "0" * 24),
            keys.clicks_key(index, 90.0, "f" * 24),
            keys.seen_key(index, 90.0, 0.0),
            keys.seen_key(index, 90.0, 2e9),
        )
    }
    assert len(found) == 1


def test_c4_two_indexes_need_not_share_one() -> None:
    slots = {key_slot(keys.queries_key(f"index-{i}", 90.0).encode()) for i in range(50)}
    assert len(slots) > 40


def test_the_names_of_keys() -> None:
    assert keys.queries_key("trials", 90.0) == "trifuse:{trials}:h90:queries"
    assert keys.clicks_key("trials", 0.5, "ab") == "trifuse:{trials}:h0.5:q:ab"
    assert keys.seen_key("trials", 90.0, 86_399.999) == "trifuse:{trials}:h90:seen:0"
    assert keys.seen_key("trials", 90.0, 86_400.0) == "trifuse:{trials}:h90:seen:1"
    assert keys.docs_key("trials", 90.0) == "trifuse:{trials}:h90:docs"
    assert keys.few_key("trials", 90.0) == "trifuse:{trials}:h90:few"
    assert keys.visits_key("trials", 90.0, 86_400.0) == "trifuse:{trials}:h90:visits:1"
    assert keys.hash_tag("a}b") == "{a%7Db}"
