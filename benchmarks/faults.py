"""What may go wrong in the middle of a job, and that it ends well all the same.

    python benchmarks/faults.py --cells 'worker-killed/*' --json

prints `{"cells": [{"fault", "job", "ok", "detail"}]}`, and ends with 1 if one isn't ok. It starts services
and a prefork worker of its own. A cell is FAULT/JOB: the job starts, the fault comes when part of it is done,
and at the end every document has one valid vector, or every click is counted once; `detail` says what was
seen.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

from fault_jobs import JOBS, Broken, Job, eventually
from fault_stack import PROCESSES, Stack, started

from trifuse.encoder.errors import TrifuseError


def worker_killed(stack: Stack) -> None:
    """The whole worker is killed and started again."""
    stack.kill_worker()
    stack.start_worker()


def process_killed(stack: Stack) -> None:
    """One process of the pool is killed."""
    stack.kill_process()


def redis_emptied(stack: Stack) -> None:
    """Redis is killed and comes back with nothing."""
    stack.interrupted = PROCESSES
    stack.services.stop_redis(force=True)
    stack.services.start_redis(empty=True)


def opensearch_killed(stack: Stack) -> None:
    """OpenSearch is killed and comes back with its data."""
    stack.interrupted = PROCESSES
    stack.services.stop_opensearch(force=True)
    stack.services.start_opensearch()


def delivered_twice(stack: Stack) -> None:
    """Nothing in the middle: each message is sent two times."""


FAULTS: dict[str, Callable[[Stack], None]] = {
    "worker-killed": worker_killed,
    "process-killed": process_killed,
    "redis-emptied": redis_emptied,
    "opensearch-killed": opensearch_killed,
    "delivered-twice": delivered_twice,
}


@dataclass(frozen=True)
class Cell:
    """One fault in the middle of one job."""

    fault: str
    job: str
    ok: bool
    detail: str


def run(stack: Stack, fault: str, job: Job) -> str:
    """Run the job with the fault in its middle; what was seen at the end.

    Raises:
        Broken: the end isn't as it must be.
    """
    job.start(twice=FAULTS[fault] is delivered_twice)
    eventually(job.half_done, "half of the job isn't done")
    FAULTS[fault](stack)
    return job.finish()


def cells(pattern: str, documents: int) -> Iterator[Cell]:
    """Run the cells whose name matches."""
    chosen = [(fault, job) for job in JOBS for fault in FAULTS if fnmatchcase(f"{fault}/{job}", pattern)]
    if not chosen:
        raise SystemExit(
            f"no cell matches {pattern!r}: faults are {', '.join(FAULTS)}, jobs {', '.join(JOBS)}"
        )
    with started() as stack:
        for fault, job in chosen:
            with stack.cell():
                try:
                    detail, ok = run(stack, fault, JOBS[job](stack, documents)), True
                except (Broken, TrifuseError, TimeoutError) as error:
                    detail, ok = str(error) or type(error).__name__, False
            yield Cell(fault, job, ok, detail)


def main() -> None:
    """Run the cells that are asked for, and say how each ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", default="*", metavar="PATTERN", help="FAULT/JOB, with * (default: all)")
    parser.add_argument("--documents", type=int, default=240, help="of the job embed, at least 100")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    done: list[Cell] = []
    for cell in cells(options.cells, options.documents):
        done.append(cell)
        verdict = "ok" if cell.ok else "BROKEN"
        line = f"{cell.fault}/{cell.job}: {verdict}: {cell.detail}"
        print(line, file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps({"cells": [asdict(cell) for cell in done]}, indent=2))
    if not all(cell.ok for cell in done):
        sys.exit(1)


if __name__ == "__main__":
    main()
