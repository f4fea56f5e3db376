"""Services and a worker that a benchmark may stop, kill and start again."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.stack import LocalServices
from trifuse.deploy.local.workers import start_worker
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

PROCESSES = 2
"""Of the worker's pool."""


class Stack:
    """OpenSearch, Redis and a prefork worker; the worker's counters outlive it.

    `killed` counts processes of the worker, `interrupted` those that a missing service kept from ending their
    batch in time.
    """

    def __init__(self, services: LocalServices, folder: Path) -> None:
        self.services = services
        self._folder = folder
        self._cell = 0
        self._worker: Service | None = None
        self.client = OpenSearch(services.opensearch_url, timeout=30)
        self.redis = Redis.from_url(services.redis_url, decode_responses=True)
        self.killed = self.interrupted = 0

    @property
    def settings(self) -> Settings:
        """The worker's settings; its counters begin at 0 in every cell."""
        return Settings(
            opensearch_url=self.services.opensearch_url,
            redis_url=self.services.redis_url,
            broker_url=self.services.redis_url,
            metrics_dir=str(self._folder / f"metrics-{self._cell}"),
        )

    @property
    def app(self) -> TrifuseCelery:
        """An app on the stack's broker."""
        return create_app(self.settings)

    def counted(self, name: str) -> int:
        """One of the worker's counters, summed over all processes that there ever were in this cell."""
        return sums(read_metrics(Path(str(self.settings.metrics_dir))))[name]

    @contextmanager
    def cell(self) -> Iterator[None]:
        """A worker for one cell, on an empty Redis."""
        self._cell += 1
        self.killed = self.interrupted = 0
        self.redis.flushall()
        self.start_worker()
        try:
            yield
        finally:
            if self._worker:
                stop(self._worker.process, force=True)

    def start_worker(self) -> None:
        """Start the worker, and wait until it takes tasks."""
        self._worker = start_worker(
            self._folder / "workers",
            settings=self.settings,
            concurrency=PROCESSES,
            environ={"TRIFUSE_METRICS_DIR": str(self.settings.metrics_dir)},
        )

    def kill_worker(self) -> None:
        """The whole worker at once (SIGKILL)."""
        if self._worker:
            stop(self._worker.process, force=True)
            self.killed += PROCESSES

    def kill_process(self) -> None:
        """One process of the pool (SIGKILL); the worker starts another."""
        for counters in read_metrics(Path(str(self.settings.metrics_dir))):
            try:
                os.kill(counters.pid, signal.SIGKILL)
            except ProcessLookupError:
                continue  # killed earlier
            self.killed += 1
            return


@contextmanager
def started() -> Iterator[Stack]:
    """A stack in a folder of its own, which is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="trifuse-faults-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # OpenSearch doesn't run as root
        with LocalServices(folder / "services") as services:
            yield Stack(services, folder)
