"""What `trifuse status` shows of the services."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from trifuse.deploy.cli import services
from trifuse.deploy.cli.services_output import copy_line, failure_lines, indexes_table
from trifuse.deploy.local.indexes import CopyStatus, eta_s, rates_of
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
    counters = {"tasks": 7, "embedded": 40, "failed": 2, "retried": 1, "calls": 9, "paused_s": 12.4}
    busy = WorkerInfo("w1@host[x]", 5, 2, "tiny", "cpu", "s", "cpu", counters)
    idle = WorkerInfo("w2@host", 6, 1, "new", "cpu", "", "", {})
    lines = _shown(capsys, 3, details=(busy, idle))
    assert lines[-3:] == [
        ["worker", "encoder", "processes", "tasks", "embedded", "failed", "retried", "paused"],
        ["w1@host[x]", "tiny", "2", "7", "40", "2", "1", "12", "s"],
        ["w2@host", "new", "1", "0", "0", "0", "0", "0", "s"],
    ]


def test_two_workers_and_who_sends_the_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    first = ServiceStatus("worker", 7, True, "", "/a.log", "tiny")
    second = ServiceStatus("worker", 8, False, "", "/b.log", "new")
    beat = ServiceStatus("beat", 9, True, "", "/c.log")
    lines = _shown(capsys, 1, first, second, beat)
    assert ["worker", "1", "on", "cpu", "7,", "ended"] in lines
    assert ["beat", "sends", "the", "sweep", "9"] in lines
    assert ["log", "of", "worker", "new:", "/b.log"] in lines


def _told(current: int, missing: int, rate: float, eta: int | None, **reasons: int) -> dict[str, Any]:
    counted: dict[str, Any] = {
        "encoder": "tiny",
        "documents": 10,
        "current": current,
        "stale": 0,
        "missing": missing,
        "empty": 0,
    }
    return counted | {"failed": sum(reasons.values()), "rate": rate, "eta_s": eta, "reasons": reasons}


def test_indexes_have_a_rate_and_what_is_left_and_a_line_a_field() -> None:
    two = {"v": _told(10, 0, 0.0, 0), "v_2": _told(4, 6, 0.05, 120)}
    table = indexes_table({"a": _told(9, 1, 0.0, None), "b": two["v_2"] | {"fields": two}})
    console = Console(width=200, file=StringIO())
    console.print(table)
    lines = [line.split() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]
    assert lines == [
        ["index", "encoder", "documents", "current", "stale", "missing", "failed", "empty", "rate", "left"],
        ["a", "tiny", "10", "9", "0", "1", "0", "0", "-", "?"],
        ["b", "v", "tiny", "10", "10", "0", "0", "0", "0", "-", "-"],
        ["b", "v_2", "tiny", "10", "4", "0", "6", "0", "0", "0.1/s", "0:02:00"],
    ]


def test_long_names_go_over_several_lines_and_numbers_stay_whole() -> None:
    index, field = "trifuse-sentences-clinical-trials", "trifuse_vector_intervention"
    two = {
        field: _told(1_234_567, 0, 12.5, 3_600) | {"encoder": "bge-small-en-v1.5-int8"},
        "v": _told(1, 0, 0, 0),
    }
    console = Console(width=80, file=StringIO())
    console.print(indexes_table({index: two["v"] | {"fields": two}}))
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    lines = shown.splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in shown
    names, encoders = lines[0].index("index"), lines[0].index("encoder")
    numbers = lines[0].index("documents")
    first = lines[1 : next(at for at, line in enumerate(lines[2:], 2) if "tiny" in line)]
    assert "".join(line[names:encoders].strip() for line in first) == index + field
    assert "".join(line[encoders:numbers].strip() for line in first) == "bge-small-en-v1.5-int8"
    assert "1234567" in lines[1]
    assert "1:00:00" in lines[1]


def test_why_documents_failed_and_what_to_do() -> None:
    assert failure_lines({"a": _told(9, 1, 0.0, None), "b": _told(8, 0, 0.0, 0, odd=1, even=1_000)}) == [
        "Failed in b; `trifuse sync b --retry-failed` tries them again:",
        "  1 × odd",
        "  1,000 × even",
    ]


def test_rates_are_those_of_all_workers_together() -> None:
    one = WorkerInfo("w1", 5, 2, "tiny", "cpu", "s", "cpu", {}, {"a": {"v": 1.5, "w": 1.0}})
    other = WorkerInfo("w2", 6, 1, "tiny", "cpu", "s", "cpu", {}, {"a": {"v": 2.5}})
    assert rates_of([one, other, WorkerInfo("w3", 7, 1, "tiny", "cpu", "", "", {})]) == {
        ("a", "v"): 4.0,
        ("a", "w"): 1.0,
    }
    assert (eta_s(100, 8.0), eta_s(0, 0.0), eta_s(5, 0.0)) == (13, 0, None)


def test_how_far_copies_are() -> None:
    assert copy_line(CopyStatus("a-2", "a", "all", "filling")) == (
        "a-2 is an unfinished copy of a; all is not switched to it yet."
    )
    assert copy_line(CopyStatus("a-2", "a", "all", "returning")) == (
        "a-2 is an unfinished copy of a; all is going back from it."
    )
    assert copy_line(CopyStatus("a-2", "a", "all", "switched")) == (
        "all was switched to a-2; a is kept, to go back to, until `trifuse reembed all --finish` deletes it."
    )
