"""A Celery worker on this machine: prefork, one ONNX session a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from trifuse.deploy.local.processes import start
from trifuse.deploy.local.services import Service, wait_until_ready

NAME = "worker"
BOOT_S = 120.0
READY = " ready."
"""Celery's own word, in its log, that it takes tasks."""


def worker_command(concurrency: int, name: str) -> list[str]:
    """The command line of a worker; which queues it takes is said by its settings."""
    return [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "trifuse.worker.app",
        "worker",
        "--pool",
        "prefork",
        "--concurrency",
        str(concurrency),
        "--loglevel",
        "INFO",
        "--hostname",
        f"{name}@%h",
    ]


def start_worker(
    folder: Path,
    *,
    environ: Mapping[str, str],
    concurrency: int,
    name: str = "trifuse",
    timeout_s: float = BOOT_S,
) -> Service:
    """Start a worker that logs into `folder`, and wait until it takes tasks.

    Args:
        environ: what names its services and encoder, over our own environment.
        concurrency: its processes.

    Raises:
        ServiceDied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    log.unlink(missing_ok=True)
    # Not from the project's folder: there Celery would find the bare `worker` and import everything twice.
    process = start(
        worker_command(concurrency, name), log=log, environ=os.environ | dict(environ), folder=folder
    )
    service = Service(NAME, "", process, (log,))
    return wait_until_ready(service, lambda: _is_ready(log), timeout_s=timeout_s)


def _is_ready(log: Path) -> bool:
    return READY in log.read_text("utf-8", "replace")
