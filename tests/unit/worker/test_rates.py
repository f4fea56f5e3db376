"""Documents a second: of the last minute, whoever did them."""

from __future__ import annotations

from pathlib import Path

from trifuse.worker.metrics import Metrics, read_metrics
from trifuse.worker.rates import Done, rates, with_done


def test_what_happens_within_seconds_is_one_note_and_a_minute_is_kept() -> None:
    lately: list[Done] = []
    for second in range(0, 120, 2):
        lately = with_done(lately, Done(float(second), "trials", "v", 1))
    # Each takes what comes within 5 s: those of 0, 6, ... 114 three each; at 118 those from 60 on are kept.
    assert lately == [Done(float(at), "trials", "v", 3) for at in range(60, 120, 6)]


def test_indexes_and_fields_are_apart() -> None:
    lately = with_done([Done(0.0, "a", "v", 1)], Done(1.0, "a", "w", 20))
    assert rates([with_done(lately, Done(1.0, "b", "v", 30))], now=10.0) == {
        "a": {"v": 0.1, "w": 2.22},
        "b": {"v": 3.33},
    }


def test_what_is_over_a_minute_ago_or_of_a_clock_ahead_counts_nothing() -> None:
    old, ahead = Done(0.0, "a", "v", 100), Done(500.0, "a", "v", 100)
    assert rates([[old, ahead]], now=61.0) == {}
    assert rates([[old]], now=59.0) == {"a": {"v": 1.69}}


def test_a_burst_is_not_taken_for_a_rate_of_thousands() -> None:
    assert rates([[Done(100.0, "a", "v", 32)]], now=100.01) == {"a": {"v": 6.4}}


def test_they_are_kept_beside_the_counters(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    metrics.done("a", "v", 32, now=100.0)
    metrics.add(tasks=1, paused_s=0.5)
    metrics.add(paused_s=0.25)
    (found,) = read_metrics(tmp_path)
    assert (found.lately, found.paused_s) == ([Done(100.0, "a", "v", 32)], 0.75)
