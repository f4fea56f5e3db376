"""The worker that the other tests use: it starts, survives the loss of a child, and comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.integration


def _until(condition: Callable[[], Any], timeout_s: float = 60) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "not within the time"
        time.sleep(0.1)


def test_worker_replaces_a_killed_child_and_restarts(worker_factory) -> None:
    worker = worker_factory(concurrency=2)
    assert len(worker.children) >= 2

    killed = worker.kill_child()
    _until(lambda: killed not in worker.children and len(worker.children) >= 2)

    worker.kill()
    assert not worker.alive
    assert worker.children == ()

    worker.restart()
    assert worker.alive
