"""A Celery worker on this machine: prefork, one ONNX session a process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from trifuse.deploy.local.processes import start
from trifuse.deploy.local.services import Service, wait_until_ready
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.inspection import workers
from trifuse.worker.settings import Settings

NAME = "worker"
BOOT_S = 120.0


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
    settings: Settings,
    concurrency: int,
    name: str = "trifuse",
    environ: Mapping[str, str] | None = None,
    timeout_s: float = BOOT_S,
) -> Service:
    """Start a worker that logs into `folder`, and wait until it takes tasks and its encoder runs.

    Args:
        concurrency: its processes.
        name: unlike those of the broker's other workers on this machine.
        environ: further variables, beside our own environment's and the settings'.

    Raises:
        ServiceDied.
    """
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    variables = {
        "OPENSEARCH_URL": settings.opensearch_url,
        "REDIS_URL": settings.redis_url,
        "TRIFUSE_BROKER_URL": settings.broker_url,
        "TRIFUSE_ENCODER": settings.encoder,
    }
    process = start(
        worker_command(concurrency, name),
        log=log,
        environ=os.environ | variables | dict(environ or {}),
        # Not the project's folder: there Celery would find the bare `worker` and import everything twice.
        folder=folder,
    )
    service = Service(NAME, "", process, (log,))
    app = create_app(settings)
    try:
        return wait_until_ready(service, lambda: _computes(app, process.pid), timeout_s=timeout_s)
    finally:
        app.close()


def _computes(app: TrifuseCelery, pid: int) -> bool:
    """Whether the worker with this id answers, and a process of its pool has started the encoder."""
    return any(info.pid == pid and info.provider for info in workers(app, timeout_s=0.5))
