"""Processes that outlive the command that starts them, and are ended by id without hitting another.

A process id is used again after its process ended; with the time of its start it names one process for good.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

_BEGUN_S = 5.0
"""How long a process that nobody wants any more may take to start."""


@dataclass(frozen=True)
class Process:
    """One process that was started by trifuse.

    Args:
        pid: its id.
        started: when it started, in the system's own terms; "" where it had ended before that was known.
    """

    pid: int
    started: str

    def alive(self) -> bool:
        """Whether this very process still runs."""
        return bool(self.started) and start_of(self.pid) == self.started


def start_of(pid: int) -> str:
    """What tells this process from any other of the same id; "" where there is none, or only its remains."""
    if PROC.is_dir():
        try:
            # The name in parentheses may hold anything, so count from its end: state is field 3, start is 22.
            fields = (PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:
            return ""
        return "" if fields[0] in "ZX" else fields[19]
    shown = subprocess.run(
        ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    state, _, started = shown.stdout.strip().partition(" ")
    return "" if state.startswith("Z") else started.strip()


def start(
    command: Sequence[str],
    *,
    log: Path,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    uid: int | None = None,
    gid: int | None = None,
) -> Process:
    """Start a command in a session of its own, its output appended to `log`.

    It starts in a thread, which no Ctrl-C can end half-way: one that comes meanwhile ends the process again.

    Args:
        uid: the user that it runs as, and gid the group, without others; None keeps the caller's.
    """
    begun: Future[Process] = Future()

    def run() -> None:
        try:
            with log.open("ab") as output:
                started = subprocess.Popen(
                    list(command),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=None if environ is None else dict(environ),
                    cwd=folder,
                    start_new_session=True,
                    user=uid,
                    group=gid,
                    extra_groups=None if uid is None else [],
                )
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller is told
            begun.set_exception(error)
            return
        begun.set_result(Process(started.pid, start_of(started.pid)))
        # Collects its exit status, so that what ended is gone and not a remnant, for as long as we run.
        started.wait()

    thread = threading.Thread(target=run, name=f"start-{Path(command[0]).name}", daemon=True)
    try:
        thread.start()
        return begun.result()
    except KeyboardInterrupt:
        with suppress(Exception):
            stop(begun.result(timeout=_BEGUN_S))
        raise


def stop(process: Process, *, timeout_s: float = 30.0, force: bool = False) -> None:
    """End this process, politely at first, and wait until it is gone; nothing where it has gone."""
    _signal(process, signal.SIGKILL if force else signal.SIGTERM)
    if not _wait_gone(process, timeout_s):
        _signal(process, signal.SIGKILL)
        _wait_gone(process, timeout_s)


def _signal(process: Process, number: int) -> None:
    if process.alive():
        try:
            if number == signal.SIGKILL:
                os.killpg(process.pid, number)  # it leads its own session: its children go with it
            else:
                os.kill(process.pid, number)
        except ProcessLookupError:
            return


def _wait_gone(process: Process, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while process.alive():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def last_lines(logs: Sequence[Path], count: int = 8) -> str:
    """What a service said at its end: the last lines of each of its logs, without a Java stack's frames."""
    said: list[str] = []
    for log in logs:
        try:
            text = log.read_text("utf-8", "replace")
        except OSError:
            continue
        said += [line for line in text.splitlines() if line.strip() and not line.startswith("\tat ")][-count:]
    return "\n".join(said) or "(it said nothing)"
