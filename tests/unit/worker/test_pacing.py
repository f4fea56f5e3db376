"""How fast vectors are written: halved by trouble, given back bit by bit, never held up for long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opensearchpy.exceptions import ConnectionError as OpenSearchConnectionError

from trifuse.worker.pacing import LONGEST_PAUSE_S, Baseline, Pacing
from trifuse.worker.pressure import Pressure


def test_without_trouble_there_is_no_pause() -> None:
    pacing = Pacing()
    for _ in range(3):
        pacing.note(slow=False)
        assert pacing.pause_s(2.0) == 0.0


def test_each_refusal_halves_the_share_down_to_a_sixteenth() -> None:
    pacing = Pacing()
    pauses = []
    for _ in range(6):
        pacing.note(crowded=True)
        pauses.append(pacing.pause_s(0.1))
    # a share s of the time: a batch of 0.1 s is followed by 0.1/s - 0.1
    assert pauses == pytest.approx([0.1, 0.3, 0.7, 1.5, 1.5, 1.5])


def test_calm_batches_give_it_back_and_not_before_searches_are_quick_again() -> None:
    pacing = Pacing()
    pacing.note(slow=True)
    for _ in range(8):
        pacing.note()
    assert pacing.share == 0.5
    pacing.note(slow=False)
    for _ in range(7):
        pacing.note()
    assert pacing.share == 1.0


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([None, True, False]))), st.floats(0, 1e6))
def test_a_pause_is_never_longer_than_the_bound(batches: list[tuple[bool, bool | None]], took: float) -> None:
    pacing = Pacing()
    for crowded, slow in batches:
        pacing.note(crowded=crowded, slow=slow)
        assert 0 <= pacing.pause_s(took) <= LONGEST_PAUSE_S
    for _ in range(16):
        pacing.note(slow=False)
    assert pacing.pause_s(took) == 0


def test_searches_are_slow_well_over_the_quickest_seen() -> None:
    baseline = Baseline()
    assert not baseline.slow(100, 4_000)  # 40 ms: the first tells what is usual
    assert not baseline.slow(100, 11_000)  # 110 ms: not three times as long
    assert baseline.slow(100, 13_000)
    assert not baseline.slow(100, 2_000)
    assert baseline.slow(100, 6_500)  # 20 ms are usual now


def test_neither_few_searches_nor_a_small_rise_are_slow() -> None:
    baseline = Baseline()
    assert not baseline.slow(100, 100)
    assert not baseline.slow(100, 2_000)  # from 1 to 20 ms
    assert not baseline.slow(19, 60_000)
    assert not baseline.slow(0, 0)


def test_searches_that_stay_slow_are_usual_in_the_end() -> None:
    baseline = Baseline()
    baseline.slow(100, 10_000)
    slow = [baseline.slow(100, 40_000) for _ in range(40)]
    assert slow[0]
    assert not slow[-1]


def test_a_limit_holds_whatever_was_seen() -> None:
    baseline = Baseline(50)
    assert baseline.slow(100, 6_000)
    assert baseline.slow(100, 6_000)
    assert not baseline.slow(100, 5_000)


class Stats:
    """A client whose index tells these counters, in the order of asking; and a clock."""

    def __init__(self, *told: tuple[int, int, int, int]) -> None:
        self.told = list(told)
        self.time = 1000.0
        self.slept: list[float] = []
        self.indices = self

    def stats(self, **_: Any) -> dict[str, Any]:
        if not self.told:
            raise OpenSearchConnectionError("N/A", "refused", OSError("refused"))
        searches, took, own, own_took = self.told.pop(0)
        groups = {"trifuse": {"query_total": own, "query_time_in_millis": own_took}}
        total = {"query_total": searches, "query_time_in_millis": took, "groups": groups}
        return {"_all": {"total": {"search": total}}}

    def clock(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def pressure(self) -> Pressure:
        return Pressure(clock=self.clock, sleep=self.sleep)

    def batch(self, pressure: Pressure, *, after_s: float, crowded: bool = False) -> float:
        """A batch of one second; how long the next one waits."""
        self.time += after_s - 1.0
        began = pressure.now()
        self.time += 1.0
        pressure.note(self, "trials", began=began, crowded=crowded)  # type: ignore[arg-type]
        return pressure.wait()


def test_slow_searches_of_others_pause_and_quick_ones_end_that() -> None:
    stats = Stats((0, 0, 0, 0), (100, 1_000, 0, 0), (200, 11_000, 0, 0), (300, 12_000, 0, 0))
    pressure = stats.pressure()
    assert [stats.batch(pressure, after_s=6) for _ in range(3)] == [0, 0, pytest.approx(1)]
    # 9/16 of the time from now on: 1 s is followed by 7/9 s
    assert stats.batch(pressure, after_s=6) == pytest.approx(7 / 9)
    assert stats.slept == pytest.approx([1, 7 / 9])


def test_our_own_searches_are_no_reason_to_pause() -> None:
    stats = Stats((0, 0, 0, 0), (100, 1_000, 0, 0), (200, 91_000, 100, 90_000))
    pressure = stats.pressure()
    assert [stats.batch(pressure, after_s=6) for _ in range(3)] == [0, 0, 0]


def test_what_searches_took_while_nothing_was_written_is_no_reason_either() -> None:
    stats = Stats((0, 0, 0, 0), (100, 1_000, 0, 0), (200, 91_000, 0, 0))
    pressure = stats.pressure()
    assert [stats.batch(pressure, after_s=after) for after in (6, 6, 60)] == [0, 0, 0]


def test_it_is_asked_every_five_seconds_at_most_and_needs_no_answer() -> None:
    stats = Stats((0, 0, 0, 0))
    pressure = stats.pressure()
    assert [stats.batch(pressure, after_s=1) for _ in range(5)] == [0] * 5
    assert stats.told == []
    assert stats.batch(pressure, after_s=6) == 0  # no answer any more


def test_refusals_pause_and_the_pause_is_over_by_itself() -> None:
    stats = Stats((0, 0, 0, 0))
    pressure = stats.pressure()
    assert stats.batch(pressure, after_s=1, crowded=True) == pytest.approx(1)
    pressure.note_refusal(began=pressure.now() - 1)
    stats.time += 60
    assert pressure.wait() == 0
