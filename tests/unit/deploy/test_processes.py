"""Processes, against real ones."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from trifuse.deploy.local import processes
from trifuse.deploy.local.processes import Process, last_lines, start, start_of, stop


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    started: list[Process] = []

    def make(code: str) -> Process:
        process = start([sys.executable, "-u", "-c", code], log=tmp_path / "log")
        started.append(process)
        return process

    yield make
    for process in started:
        stop(process, force=True)


def said(log: Path, word: str) -> bool:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if word in log.read_text():
            return True
        time.sleep(0.02)
    return False


def test_it_leads_its_own_session_and_logs(run: Callable[..., Process], tmp_path: Path) -> None:
    process = run("import time; print('here'); time.sleep(60)")

    assert said(tmp_path / "log", "here")
    assert process.alive()
    assert os.getsid(process.pid) == process.pid != os.getsid(0)


def test_stop_ends_it_and_says_so(run: Callable[..., Process]) -> None:
    process = run("import time; time.sleep(60)")

    stop(process)

    assert not process.alive()
    assert start_of(process.pid) == ""
    stop(process)


def test_one_that_wont_listen_is_ended_with_its_children(run: Callable[..., Process], tmp_path: Path) -> None:
    process = run(
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print('child', child.pid, '.')\n"
        "time.sleep(60)\n"
    )
    assert said(tmp_path / "log", ".")
    child = int((tmp_path / "log").read_text().split()[1])

    stop(process, timeout_s=0.3)

    assert not process.alive()
    deadline = time.monotonic() + 10
    while start_of(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert start_of(child) == ""


def test_another_process_with_the_same_id_is_left_alone(run: Callable[..., Process]) -> None:
    process = run("import time; time.sleep(60)")
    noted = Process(process.pid, "0")

    assert not noted.alive()
    stop(noted, force=True)

    assert process.alive()


def test_an_id_that_was_never_known_is_not_alive() -> None:
    assert not Process(os.getpid(), "").alive()


def test_last_lines_leave_out_a_stacks_frames(tmp_path: Path) -> None:
    output, log = tmp_path / "output.log", tmp_path / "trifuse.log"
    output.write_text("first\n\nException: no room\n\tat org.x.Y(Y.java:1)\n\tat org.x.Z(Z.java:2)\n")
    log.write_text("one\ntwo\nthree\n")

    assert last_lines([output, tmp_path / "missing", log], 2) == "first\nException: no room\ntwo\nthree"
    assert last_lines([tmp_path / "missing"]) == "(it said nothing)"


def test_a_start_that_is_interrupted_ends_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a Ctrl-C that comes before anybody knows of the process."""
    found: list[Process] = []

    class Interrupted(Future[Process]):
        def result(self, timeout: float | None = None) -> Process:
            if timeout is None:
                raise KeyboardInterrupt
            found.append(super().result(timeout))
            return found[0]

    monkeypatch.setattr(processes, "Future", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        start(["sleep", "60"], log=tmp_path / "log")
    assert not found[0].alive()
