"""Lookups in threads: within their budget, whatever happens to them, and after a fork."""

from __future__ import annotations

import gc
import os
import threading
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.lookups import MOST_AT_ONCE, Lookups
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.signals import Encoded
from trifuse.ranker.target import read_target
from trifuse.ranker.types import LegReport

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
TARGET = read_target("i", {"i": {"mappings": {}}})
ENCODED = Encoded(np.array([1.0, 0.0, 0.0], np.float32), SPACE, LegReport("ok"))


class Clicks:
    """Answers when it is let, and keeps what it was asked."""

    def __init__(self, *, open: bool = True) -> None:
        self.gate = threading.Event()
        if open:
            self.gate.set()
        self.error: Exception | None = None
        self.asked: list[tuple[Any, ...]] = []
        self.threads: list[threading.Thread] = []

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = ClickSettings(),  # noqa: B008 - frozen
        leave_one_out: bool = False,
    ) -> ClickEvidence:
        self.threads.append(threading.current_thread())
        self.asked.append((index, text, vector, space, budget_s, settings, leave_one_out))
        self.gate.wait(10)
        if self.error:
            raise self.error
        return ClickEvidence({"1": 0.5}, frequency=50, segment="HEAD")


def start(lookups: Lookups, text: str = "asthma", **settings: Any) -> Callable[[], Clicked]:
    return lookups.start(text, TARGET, Profile(**settings), ENCODED, leave_one_out=False)


def test_what_is_asked_and_answered() -> None:
    clicks, settings = Clicks(), ClickSettings(m=3)
    lookups = Lookups(clicks)
    profile = Profile(click_budget_s=5, clicks=settings)
    found = lookups.start("asthma", TARGET, profile, ENCODED, leave_one_out=True)()
    assert found.scores == {"1": 0.5}
    assert (found.frequency, found.segment, found.report.state) == (50, "HEAD", "ok")
    assert clicks.asked == [("i", "asthma", ENCODED.vector, SPACE, 5, settings, True)]
    assert clicks.threads[0] is not threading.current_thread()
    lookups.close()


def test_the_caller_goes_on_meanwhile() -> None:
    clicks = Clicks(open=False)
    lookups = Lookups(clicks)
    waiting = start(lookups, click_budget_s=10)
    clicks.gate.set()
    assert waiting().scores == {"1": 0.5}
    lookups.close()


def test_a_late_lookup_is_left_out() -> None:
    clicks = Clicks(open=False)
    lookups = Lookups(clicks)
    began = time.monotonic()
    found = start(lookups, click_budget_s=0.05)()
    assert time.monotonic() - began < 2
    assert found.report.state == "failed"
    assert found.report.reason == "the click log wasn't looked up within the budget of 0.05 s"
    assert 50 <= found.report.took_ms < 2000
    assert (found.scores, found.frequency) == ({}, None)
    clicks.gate.set()
    lookups.close()


def test_one_that_is_there_counts_however_late_it_is_asked_for() -> None:
    """The other legs took longer than the lookup's budget; the lookup didn't."""
    lookups = Lookups(Clicks())
    waiting = start(lookups, click_budget_s=0.05)
    time.sleep(0.2)
    assert waiting().report.state == "ok"
    lookups.close()


def test_a_store_that_breaks_its_promise_not_to_raise() -> None:
    clicks = Clicks()
    lookups = Lookups(clicks)
    for error, said in ((ValueError("no such thing"), "no such thing"), (KeyError(), "KeyError")):
        clicks.error = error
        report = start(lookups, click_budget_s=5)().report
        assert (report.state, report.reason) == ("failed", f"the click log couldn't be looked up: {said}")
    lookups.close()


def test_more_at_once_than_there_are_threads() -> None:
    """Those that find no thread in time are left out; the threads are there again afterwards."""
    clicks = Clicks(open=False)
    lookups = Lookups(clicks)
    waiting = [start(lookups, click_budget_s=0.3) for _ in range(MOST_AT_ONCE + 3)]
    assert [each().report.state for each in waiting] == ["failed"] * len(waiting)
    assert len(clicks.asked) == MOST_AT_ONCE
    clicks.gate.set()
    assert start(lookups, click_budget_s=5)().report.state == "ok"
    lookups.close()
    assert len(clicks.asked) == MOST_AT_ONCE + 1  # what nobody waited for any more wasn't asked


def test_closing_ends_the_threads_and_the_next_lookup_starts_new_ones() -> None:
    clicks = Clicks()
    lookups = Lookups(clicks)
    lookups.close()  # nothing to end yet
    start(lookups, click_budget_s=5)()
    lookups.close()
    assert not clicks.threads[0].is_alive()
    assert start(lookups, click_budget_s=5)().report.state == "ok"
    lookups.close()


def test_the_threads_end_with_the_object() -> None:
    clicks = Clicks()
    lookups = Lookups(clicks)
    start(lookups, click_budget_s=5)()
    gone = weakref.ref(lookups)
    del lookups
    gc.collect()
    assert gone() is None
    clicks.threads[0].join(5)
    assert not clicks.threads[0].is_alive()


def test_many_threads_share_it() -> None:
    lookups = Lookups(Clicks())
    states: list[str] = []

    def search() -> None:
        states.extend(start(lookups, click_budget_s=10)().report.state for _ in range(20))

    threads = [threading.Thread(target=search) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert states == ["ok"] * 320
    lookups.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_after_a_lookup_has_threads_of_its_own() -> None:
    """As under a server or a worker pool that forks after it has started."""
    lookups = Lookups(Clicks())
    start(lookups, click_budget_s=10)()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            found = start(lookups, click_budget_s=10)()
            lookups.close()
            status = 0 if found.report.state == "ok" else 2
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(ended) == 0
    assert start(lookups, click_budget_s=10)().report.state == "ok"
    lookups.close()


def test_where_there_is_nothing_to_look_up() -> None:
    assert start(Lookups(None))() == Clicked(LegReport("off", "no click store"))
    clicks = Clicks()
    lookups = Lookups(clicks)
    assert start(lookups, text=" ")().report == LegReport("skipped", "the text is empty")
    assert start(lookups, weights={"dense": 1})().report.state == "off"
    assert (clicks.asked, clicks.threads) == ([], [])


class Joint(Clicks):
    """Can have its past queries searched along."""

    def __init__(self, *, along: bool = True) -> None:
        super().__init__()
        self.along = along
        self.similar: list[Any] = []

    def similar_search(
        self, index: str, vector: Vectors | None, **how: Any
    ) -> tuple[dict[str, Any], dict[str, Any]] | None:
        return ({"index": index}, {"size": 3}) if self.along else None

    def lookup(self, *args: Any, similar: Any = None, **how: Any) -> ClickEvidence:
        self.similar.append(similar)
        return super().lookup(*args, **how)


def test_past_queries_that_were_searched_along_are_handed_on_without_a_thread() -> None:
    clicks = Joint()
    look_up = Lookups(clicks).start("asthma", TARGET, Profile(), ENCODED, leave_one_out=False)
    assert look_up.along == ({"index": "i"}, {"size": 3})
    assert clicks.asked == []
    look_up.answered({"hits": {"hits": []}})
    assert look_up().scores == {"1": 0.5}
    assert clicks.similar == [{"hits": {"hits": []}}]
    assert clicks.threads == [threading.current_thread()]
    clicks.error = ValueError("no such thing")
    report = look_up().report
    assert (report.state, report.reason) == ("failed", "the click log couldn't be looked up: no such thing")


def test_a_lookup_that_nobody_searched_for_searches_itself() -> None:
    clicks = Joint()
    assert start(Lookups(clicks))().report.state == "ok"
    assert clicks.similar == [None]


def test_what_can_not_go_along_is_looked_up_in_a_thread() -> None:
    clicks = Joint(along=False)
    lookups = Lookups(clicks)
    look_up = lookups.start("asthma", TARGET, Profile(click_budget_s=5), ENCODED, leave_one_out=False)
    assert look_up.along is None
    assert look_up().report.state == "ok"
    assert clicks.threads[0] is not threading.current_thread()
    lookups.close()
