"""When a served profile is read again, and what is served where it can't be: on a store with faults."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from trifuse.ranker.errors import ProfileMissing, SearchUnavailable
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.served import Served, ServedProfiles
from trifuse.ranker.profiles.versions import ProfileVersion

MINE = Profile(name="mine", depth=50)


class FaultyStore:
    """Has one profile; breaks, or waits, where it is told to."""

    def __init__(self) -> None:
        self.version = 1
        self.asked = 0
        self.fault: Exception | None = None
        self.gate = threading.Event()
        self.gate.set()

    def get(self, reference: str) -> ProfileVersion:
        self.asked += 1
        version = self.version
        self.gate.wait(10)
        if self.fault is not None:
            raise self.fault
        settings = replace(MINE, depth=50 + version).as_dict()
        return ProfileVersion(
            "mine", version, "2026-01-01T00:00:00+00:00", "", settings, None, True, "i/mine"
        )


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def store() -> FaultyStore:
    return FaultyStore()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def served(store: FaultyStore, clock: Clock) -> ServedProfiles:
    fake: Any = store
    return ServedProfiles(fake, clock=clock)


def until(holds: Callable[[], bool]) -> None:
    """Wait for a thread to have done its part."""
    for _ in range(500):
        if holds():
            return
        time.sleep(0.01)
    raise TimeoutError


def test_settings_and_built_in_names_need_no_store(served: ServedProfiles, store: FaultyStore) -> None:
    assert served.get(MINE) == Served(MINE)
    assert served.get("lader") == Served(published()["lader"])
    assert served.get("default").profile == Profile()
    assert store.asked == 0


def test_a_profile_is_read_once_in_two_seconds(
    served: ServedProfiles, store: FaultyStore, clock: Clock
) -> None:
    assert served.get("mine") == Served(replace(MINE, depth=51), 1)
    clock.now += 1.9
    assert served.get("mine").version == 1
    assert store.asked == 1


def test_a_new_version_is_served_by_the_search_after_the_one_that_has_it_read(
    served: ServedProfiles, store: FaultyStore, clock: Clock
) -> None:
    served.get("mine")
    store.version = 2
    store.gate.clear()
    clock.now += 2.0
    assert served.get("mine") == Served(replace(MINE, depth=51), 1)  # waits for nothing
    assert served.get("mine").version == 1
    store.gate.set()
    until(lambda: served.get("mine").version == 2)
    assert store.asked == 2
    assert served.get("mine").profile.depth == 52


def test_after_a_quiet_time_the_search_waits_for_what_is_current(
    served: ServedProfiles, store: FaultyStore, clock: Clock
) -> None:
    served.get("mine")
    store.version = 2
    clock.now += 3600
    assert served.get("mine") == Served(replace(MINE, depth=52), 2)


def test_it_does_not_wait_long(served: ServedProfiles, store: FaultyStore, clock: Clock) -> None:
    served.get("mine")
    store.gate.clear()
    clock.now += 3600
    started = time.monotonic()
    found = served.get("mine")
    assert time.monotonic() - started < 2
    assert found == Served(
        replace(MINE, depth=51), 1, "read 3600 s ago, and not since: OpenSearch has not answered yet"
    )
    store.gate.set()
    until(lambda: served.get("mine").note is None)


@pytest.mark.parametrize(
    "fault", [SearchUnavailable("OpenSearch didn't answer"), ProfileMissing("there is no profile 'mine'")]
)
def test_where_it_cant_be_read_again_what_is_known_is_served(
    served: ServedProfiles, store: FaultyStore, clock: Clock, fault: Exception
) -> None:
    served.get("mine")
    store.fault = fault
    clock.now += 3
    served.get("mine")
    until(lambda: served.get("mine").note is not None)
    clock.now += 1
    assert served.get("mine") == Served(replace(MINE, depth=51), 1, f"read 4 s ago, and not since: {fault}")
    store.fault = None
    clock.now += 2
    served.get("mine")
    until(lambda: served.get("mine").note is None)


def test_what_was_never_read_can_only_fail(served: ServedProfiles, store: FaultyStore) -> None:
    store.fault = SearchUnavailable("OpenSearch didn't answer")
    with pytest.raises(SearchUnavailable):
        served.get("mine")
    store.fault = None
    assert served.get("mine").version == 1


def test_a_slow_reading_does_not_undo_a_later_one(
    served: ServedProfiles, store: FaultyStore, clock: Clock
) -> None:
    served.get("mine")
    store.gate.clear()
    slow = store.gate
    clock.now += 2
    served.get("mine")
    until(lambda: store.asked == 2)  # it has seen version 1, and hangs
    store.gate = threading.Event()
    store.gate.set()
    store.version = 2
    clock.now += 2
    served.get("mine")
    until(lambda: served.get("mine").version == 2)
    slow.set()
    time.sleep(0.1)
    assert served.get("mine").version == 2


def test_a_version_is_named_as_it_was_asked_for(served: ServedProfiles) -> None:
    assert served.get("mine@1").profile.name == "mine@1"
