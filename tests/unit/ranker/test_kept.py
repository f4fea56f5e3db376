"""Answers are kept for some seconds, and not too many of them."""

from __future__ import annotations

import pytest

from trifuse.ranker.kept import MOST, Kept


def test_an_answer_is_read_again_when_it_is_old_or_has_to_be_fresh() -> None:
    now, asked = [0.0], []
    kept = Kept[int](ttl_s=5.0, clock=lambda: now[0])

    def read() -> int:
        asked.append(now[0])
        return len(asked)

    assert [kept.get("a", read), kept.get("a", read), kept.get("b", read)] == [1, 1, 2]
    assert kept.get("a", read, fresh=True) == 3
    now[0] = 5.0
    assert kept.get("a", read) == 4


def test_a_failure_is_not_kept() -> None:
    kept = Kept[int]()
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)
    assert kept.get("a", lambda: 7) == 7


def test_it_does_not_grow_without_end() -> None:
    kept = Kept[int]()
    for key in range(MOST + 1):
        kept.get(key, lambda: 1)
    assert kept.get(0, lambda: 2) == 2  # all were forgotten
    assert kept.get(MOST, lambda: 2) == 1  # but the last
