"""`trifuse sync --watch` as a process of its own, with a real worker."""

from __future__ import annotations

import json
import signal
import time
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("worker")


def test_overwrites_and_updates_are_healed_within_seconds_and_sigterm_ends_it_with_a_summary(
    own: Any, start_watch: Any, until: Any
) -> None:
    index = own(refresh_interval="30s")
    index.attach()
    process = start_watch(index.name, "--json")
    until(lambda: index.holds("0", "The first edition"), within_s=60)
    index.put("0", "The second edition")
    until(lambda: index.holds("0", "The second edition"), within_s=10)
    index.edit("0", "The third edition")
    until(lambda: index.holds("0", "The third edition"), within_s=10)
    time.sleep(1.5)
    status, out, err = process.end(signal.SIGTERM)
    assert (status, "Traceback" in err) == (0, False), err
    last = json.loads(out.splitlines()[-1])
    assert (last["pending"], last["failed"]) == (0, 0)
    # What is edited before it was seen to be done is counted once.
    assert 1 <= last["embedded"] <= last["queued"]
    assert set(last) >= {"at", "seen", "queued", "skipped", "lag_operations", "lag_s", "indexes"}


def test_what_happens_while_nobody_watches_is_found_by_the_next_who_does(
    own: Any, start_watch: Any, until: Any
) -> None:
    index = own()
    index.attach()
    for number in range(1, 6):
        index.put(str(number), f"Volume {number}")
    process = start_watch(index.name)
    until(lambda: all(index.holds(str(number), f"Volume {number}") for number in range(1, 6)), within_s=60)
    index.edit("1", "Volume I")  # may be under way when it is killed
    process.end(signal.SIGKILL)
    index.edit("2", "Volume II")
    index.put("3", "Volume III")
    index.put("6", "Volume VI")
    process = start_watch(index.name)
    wanted = {"1": "Volume I", "2": "Volume II", "3": "Volume III", "4": "Volume 4", "6": "Volume VI"}
    until(lambda: all(index.holds(doc_id, title) for doc_id, title in wanted.items()), within_s=60)
    time.sleep(1.0)
    status, out, err = process.end(signal.SIGINT)
    assert status == 0, err
    assert out.startswith(f"watched {index.name}: seen ")
    assert "queued" in err


def test_watching_has_no_end_to_wait_for(own: Any, start_watch: Any) -> None:
    index = own()
    index.attach()
    process = start_watch(index.name, "--wait")
    out, err = process.process.communicate(timeout=60)
    assert process.process.returncode == 2, out
    assert "--watch" in err
