"""Celery on this machine: a worker, prefork, one ONNX session a process; and what sends the sweep."""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path

from trifuse.deploy.local.processes import Process, start
from trifuse.deploy.local.services import Service, wait_until_ready
from trifuse.worker.app import create_app
from trifuse.worker.inspection import workers
from trifuse.worker.settings import Settings

NAME = "worker"
BEAT = "beat"
FIRST = "trifuse"
"""The node name of the first worker."""
BOOT_S = 120.0
LONGEST_S = 10
READY = " ready."
"""Celery's own word in the log, before which there is no use in asking."""
BEATS = "beat: Starting"


def node_name(encoder: str) -> str:
    """The node name of a worker beside the first: two of one broker must not share theirs.

    >>> node_name("e5-small-v2")
    'trifuse-e5-small-v2-72503c'
    """
    mark = hashlib.sha256(encoder.encode()).hexdigest()[:6]  # two folders may have the same last name
    return f"{FIRST}-{re.sub('[^A-Za-z0-9_-]', '-', Path(encoder).name)}-{mark}"


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
    name: str = FIRST,
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
    process, log = _start(worker_command(concurrency, name), folder, name, settings, environ)
    service = Service(NAME, "", process, (log,), settings.encoder)
    app = create_app(settings)
    patience = count(1)  # a busy machine may answer late: each time it is asked for longer

    def computes() -> bool:
        """Whether it answers, and a process of its pool has started the encoder."""
        if READY not in log.read_text("utf-8", "replace"):
            return False
        answering = workers(app, timeout_s=min(next(patience), LONGEST_S))
        return any(info.pid == process.pid and info.provider for info in answering)

    try:
        return wait_until_ready(service, computes, timeout_s=timeout_s)
    finally:
        app.close()


def start_beat(folder: Path, *, settings: Settings, timeout_s: float = BOOT_S) -> Service:
    """Start what sends the sweep to the workers, and wait until it does.

    It keeps no file of its own, so that a killed one leaves nothing that the next would stumble over.

    Raises:
        ServiceDied.
    """
    command = [sys.executable, "-m", "celery", "-A", "trifuse.worker.app", "beat"]
    process, log = _start([*command, "--loglevel", "INFO", "--pidfile", ""], folder, BEAT, settings, None)
    service = Service(BEAT, "", process, (log,))
    return wait_until_ready(service, lambda: BEATS in log.read_text("utf-8", "replace"), timeout_s=timeout_s)


def _start(
    command: Sequence[str], folder: Path, name: str, settings: Settings, environ: Mapping[str, str] | None
) -> tuple[Process, Path]:
    """The process, and its log."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    log.unlink(missing_ok=True)
    variables = {
        "OPENSEARCH_URL": settings.opensearch_url,
        "REDIS_URL": settings.redis_url,
        "TRIFUSE_BROKER_URL": settings.broker_url,
        "TRIFUSE_ENCODER": settings.encoder,
    }
    process = start(
        command,
        log=log,
        environ=os.environ | variables | dict(environ or {}),
        # Not the project's folder: there Celery would find the bare `worker` and import everything twice.
        folder=folder,
    )
    return process, log
