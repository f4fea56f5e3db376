"""What a process holds, and that a child takes nothing over from its parent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder.spaces import EncoderSpace
from trifuse.worker import resources as module
from trifuse.worker.metrics import read_metrics
from trifuse.worker.resources import Resources
from trifuse.worker.settings import Settings


class Started:
    space = EncoderSpace("test", "1", "fp32", "cls", 2, True, "cosine")
    provider = "cpu"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What `load_encoder` was asked for."""
    asked: list[dict[str, Any]] = []

    def load(name: str, **options: Any) -> Started:
        asked.append({"name": name, **options})
        return Started()

    monkeypatch.setattr(module, "load_encoder", load)
    return asked


def test_one_session_a_process_on_its_share_of_the_cores(
    loaded: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    resources = Resources(Settings(encoder="mine", device="cuda:1", metrics_dir=str(tmp_path)), processes=3)
    assert resources.encoder() is resources.encoder()
    assert loaded == [{"name": "mine", "device": "cuda:1", "threads": 2}]
    assert [counters.sessions for counters in read_metrics(tmp_path)] == [1]


def test_more_processes_than_cores_get_a_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert Resources(Settings(), processes=5).threads == 1


def test_c2_a_child_makes_its_own_session_and_client(
    loaded: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process id is what tells a child from its parent."""
    resources = Resources(Settings(metrics_dir=str(tmp_path)))
    encoder, client, metrics = resources.encoder(), resources.client(), resources.metrics()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert resources.encoder() is not encoder
    assert resources.client() is not client
    assert resources.metrics() is not metrics
    assert len(loaded) == 2
