"""What may go wrong in the middle of a job, and that it ends well all the same.

    python benchmarks/faults.py --cells 'worker-killed/*' --json

prints `{"cells": [{"fault", "job", "ok", "detail", "seconds"}]}`, and ends with 1 if one isn't ok. It starts
services and prefork workers of its own. A cell is FAULT/JOB: the job starts, the fault comes when part of it
is done, and at the end, after `trifuse sync`, every document has the vector of its newest text or stands in
`trifuse-failed` with its reason, and every click is counted once; `detail` says what was seen. Searches run
all the while. Several patterns are separated by commas.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase

import opensearchpy
from fault_checks import Broken, eventually
from fault_job import Job
from fault_jobs import JOBS
from fault_kinds import FAULTS
from fault_stack import Stack, started

from trifuse.encoder.errors import TrifuseError


@dataclass(frozen=True)
class Cell:
    """One fault in the middle of one job."""

    fault: str
    job: str
    ok: bool
    detail: str
    seconds: float


def run(stack: Stack, fault: str, job: Job) -> str:
    """Run the job with the fault in its middle; what was seen at the end.

    Raises:
        Broken: the end isn't as it must be.
    """
    job.start(twice=fault == "delivered-twice")
    eventually(job.half_done, "half of the job isn't done")
    FAULTS[fault].strike(stack, job)
    return job.finish()


def names() -> list[tuple[str, str]]:
    """The cells that there are."""
    return [(fault, job) for job in JOBS for fault in FAULTS if job != "clicks" or FAULTS[fault].clicks]


def cells(patterns: str, documents: int) -> Iterator[Cell]:
    """Run the cells whose name matches one of the patterns."""
    wanted = patterns.split(",")
    chosen = [
        (fault, job) for fault, job in names() if any(fnmatchcase(f"{fault}/{job}", one) for one in wanted)
    ]
    if not chosen:
        raise SystemExit(
            f"no cell matches {patterns!r}: faults are {', '.join(FAULTS)}, jobs {', '.join(JOBS)}"
        )
    with started() as stack:
        for fault, name in chosen:
            began = time.monotonic()
            options = {} if name == "clicks" else FAULTS[fault].job_options()
            job = JOBS[name](stack, documents, **options)
            with stack.cell(job.encoders):
                try:
                    detail, ok = run(stack, fault, job), True
                except (
                    Broken,
                    TrifuseError,
                    opensearchpy.TransportError,
                    TimeoutError,
                    subprocess.TimeoutExpired,
                ) as error:
                    detail, ok = str(error) or type(error).__name__, False
            yield Cell(fault, name, ok, detail, round(time.monotonic() - began, 1))


def main() -> None:
    """Run the cells that are asked for, and say how each ended."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cells", default="*", metavar="PATTERN", help="FAULT/JOB, with * (default: all)")
    parser.add_argument("--documents", type=int, default=600, help="of a job, at least 200")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended
    done: list[Cell] = []
    for cell in cells(options.cells, options.documents):
        done.append(cell)
        verdict = "ok" if cell.ok else "BROKEN"
        line = f"{cell.fault}/{cell.job} ({cell.seconds:.0f} s): {verdict}: {cell.detail}"
        print(line, file=sys.stderr if options.json else sys.stdout, flush=True)
    if options.json:
        print(json.dumps({"cells": [asdict(cell) for cell in done]}, indent=2))
    if not all(cell.ok for cell in done):
        sys.exit(1)


if __name__ == "__main__":
    main()
