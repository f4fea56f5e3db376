"""The worker that the other tests use: it starts, survives the loss of a child, and comes back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trifuse.deploy.config import celery_app, resolve
from trifuse.deploy.local.stack import LocalServices
from trifuse.encoder import DEFAULT_ENCODER
from trifuse.worker.inspection import workers

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


def test_a_block_has_all_of_them_and_leaves_nothing(own_services) -> None:
    folder: Path = own_services.folder.parent / "block"
    with LocalServices(folder, workers=1) as local:
        settings = resolve(opensearch=local.opensearch_url, redis=local.redis_url, environ={}, home=folder)
        (worker,) = workers(celery_app(settings))
        assert (worker.encoder, worker.provider) == (DEFAULT_ENCODER, "cpu")

    assert workers(celery_app(settings)) == []
