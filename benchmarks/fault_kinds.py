"""The faults of the matrix: what each does in the middle of a job."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fault_checks import eventually
from fault_clock import set_clock
from fault_job import DocumentsJob, Job
from fault_stack import PROCESSES, Stack

STOPPED_S = 30.0
BLOCKED_S = 3.0
STORM_S = 4.0
JUMP_S = 6 * 3600.0
JUMPED_S = 3.0


def worker_killed(stack: Stack, job: Job) -> None:
    """The whole worker is killed (SIGKILL of it and its pool) and started again."""
    stack.kill_workers()
    stack.start_workers()


def process_killed(stack: Stack, job: Job) -> None:
    """A process of the pool is killed with its bulk write on the way, another with it just done."""
    if not isinstance(job, DocumentsJob):
        stack.kill_process()
        return
    stack.kill_writers(["before", "after"])
    eventually(lambda: len(stack.proxy.killed) == 2, "no process could be killed in its bulk write")


def command_killed(stack: Stack, job: Job) -> None:
    """The command that runs is killed (SIGKILL); it is run again."""
    if isinstance(job, DocumentsJob):
        job.kill_command()


def redis_emptied(stack: Stack, job: Job) -> None:
    """Redis loses all that it holds, and goes on."""
    stack.interrupted = PROCESSES
    stack.redis.flushall()


def redis_stopped(stack: Stack, job: Job) -> None:
    """Redis ends, and comes back half a minute later."""
    stack.interrupted = PROCESSES
    stack.services.stop_redis()
    time.sleep(STOPPED_S)
    stack.services.start_redis()


def opensearch_restarted(stack: Stack, job: Job) -> None:
    """OpenSearch is killed while it writes, and started again with its data."""
    stack.interrupted = PROCESSES
    if isinstance(job, DocumentsJob):
        stack.proxy.writing.wait(60)
    stack.services.stop_opensearch(force=True)
    stack.services.start_opensearch()


def read_only(stack: Stack, job: Job) -> None:
    """Every index gets the block of the flood stage, and loses it again."""
    for value in (True, None):
        stack.client.indices.put_settings(
            index="*",
            body={"index.blocks.read_only_allow_delete": value},
            params={"expand_wildcards": "all"},
        )
        time.sleep(BLOCKED_S if value else 0)


def storm_429(stack: Stack, job: Job) -> None:
    """OpenSearch answers 429, to whole requests at first, then to every second item of bulk writes."""
    for storm in ("requests", "items"):
        stack.proxy.storm = storm
        time.sleep(STORM_S)
    stack.proxy.storm = ""


def delivered_twice(stack: Stack, job: Job) -> None:
    """Nothing in the middle: each message is sent two times."""


def clock_moved(stack: Stack, job: Job) -> None:
    """The wall clock of workers and commands jumps six hours ahead, then six hours back, then it is right."""
    stack.interrupted = 2 * PROCESSES
    for shift_s in (JUMP_S, -JUMP_S, 0.0):
        set_clock(stack.folder / "clock", shift_s)
        time.sleep(JUMPED_S if shift_s else 0)


def owner_edits(stack: Stack, job: Job) -> None:
    """The owner writes a twentieth of the documents anew, changes them, deletes some and adds others."""
    if isinstance(job, DocumentsJob):
        job.edit()


def disk_full(stack: Stack, job: Job) -> None:
    """A load can't write its dead-letter file: the job itself, or one that runs beside it."""
    if isinstance(job, DocumentsJob):
        job.load_meanwhile()


@dataclass(frozen=True)
class Fault:
    """One fault, and what else a job must know of it."""

    strike: Callable[[Stack, Job], None]
    clicks: bool = False
    options: tuple[str, ...] = ()

    def job_options(self) -> dict[str, Any]:
        """Keyword arguments of a job of documents."""
        return dict.fromkeys(self.options, True)


FAULTS: dict[str, Fault] = {
    "worker-killed": Fault(worker_killed, clicks=True),
    "process-killed": Fault(process_killed, clicks=True, options=("real",)),
    "command-killed": Fault(command_killed),
    "redis-emptied": Fault(redis_emptied, clicks=True),
    "redis-stopped": Fault(redis_stopped),
    "opensearch-restarted": Fault(opensearch_restarted, clicks=True, options=("away",)),
    "read-only": Fault(read_only, options=("recount",)),
    "storm-429": Fault(storm_429, options=("recount",)),
    "delivered-twice": Fault(delivered_twice, clicks=True),
    "clock-moved": Fault(clock_moved),
    "owner-edits": Fault(owner_edits),
    "disk-full": Fault(disk_full, options=("full_disk",)),
}
