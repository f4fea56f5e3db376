"""What `trifuse status` shows of the services."""

from __future__ import annotations

import pytest

from trifuse.deploy.cli import services
from trifuse.deploy.local.status import ServiceStatus, Status
from trifuse.worker.inspection import WorkerInfo

LOG = f"/a/{'long/' * 30}redis.log"


def _shown(
    capsys: pytest.CaptureFixture[str],
    workers: int,
    *started: ServiceStatus,
    details: tuple[WorkerInfo, ...] = (),
) -> list[list[str]]:
    services._tell(
        Status(
            opensearch_url="http://127.0.0.1:9200",
            redis_url="redis://127.0.0.1:6379/0",
            workers=workers,
            worker_details=details,
            provider="cpu" if workers else "",
            encoder="tiny",
            indexes={},
            interrupted_loads={},
            services=started,
            problems=(),
        )
    )
    return [line.split() for line in capsys.readouterr().out.splitlines()]


def test_whose_each_service_is_and_paths_in_one_piece(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _shown(capsys, 1, ServiceStatus(name="Redis", pid=7, running=True, url="", log=LOG))
    assert lines == [
        ["service", "where", "process"],
        ["OpenSearch", "http://127.0.0.1:9200", "not", "ours"],
        ["Redis", "redis://127.0.0.1:6379/0", "7"],
        ["worker", "1", "on", "cpu", "not", "ours"],
        ["log", "of", "Redis:", LOG],
        ["encoder", "tiny"],
    ]


def test_no_worker_is_nobodys(capsys: pytest.CaptureFixture[str]) -> None:
    assert ["worker", "none", "answers", "-"] in _shown(capsys, 0)


def test_a_worker_that_ended_is_said_to_have(capsys: pytest.CaptureFixture[str]) -> None:
    lines = _shown(capsys, 0, ServiceStatus(name="worker", pid=7, running=False, url="", log="/w.log"))
    assert ["worker", "none", "answers", "ended"] in lines


def test_what_each_worker_did(capsys: pytest.CaptureFixture[str]) -> None:
    counters = {"tasks": 7, "embedded": 40, "failed": 2, "retried": 1, "calls": 9}
    busy = WorkerInfo("w1@host[x]", 5, 2, "tiny", "cpu", "s", "cpu", counters)
    idle = WorkerInfo("w2@host", 6, 1, "tiny", "cpu", "", "", {})
    lines = _shown(capsys, 3, details=(busy, idle))
    assert lines[-3:] == [
        ["worker", "processes", "tasks", "embedded", "failed", "retried"],
        ["w1@host[x]", "2", "7", "40", "2", "1"],
        ["w2@host", "1", "0", "0", "0", "0"],
    ]
