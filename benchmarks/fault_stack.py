"""Services and workers that a benchmark may stop, kill and start again, with a proxy before OpenSearch."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from fault_clock import CLOCK_FILE, clock_folder, set_clock
from fault_proxy import Proxy, Stage, proxied
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.local.processes import start_of, stop
from trifuse.deploy.local.services import Service
from trifuse.deploy.local.stack import LocalServices
from trifuse.deploy.local.workers import start_worker
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

PROCESSES = 2
"""Of a worker's pool."""

SLOW_S = 0.1
"""What the proxy adds to a bulk write."""


class Stack:
    """OpenSearch, Redis and a prefork worker for each encoder; the workers' counters outlive them.

    Workers and commands talk to OpenSearch through `proxy`; `client` talks to it directly. `killed` counts
    processes of workers, `interrupted` those that a missing service kept from ending their batch in time.
    """

    def __init__(self, services: LocalServices, folder: Path, proxy: Proxy) -> None:
        self.services = services
        self.proxy = proxy
        self.folder = folder
        self._cell = 0
        self._workers: dict[str, Service] = {}
        self._encoders: tuple[str, ...] = (DEFAULT_ENCODER,)
        self.client = OpenSearch(services.opensearch_url, timeout=30)
        self.redis = Redis.from_url(services.redis_url, decode_responses=True)
        self.killed = self.interrupted = 0

    @property
    def settings(self) -> Settings:
        """The workers' settings; their counters begin at 0 in every cell."""
        return Settings(
            opensearch_url=self.proxy.url,
            redis_url=self.services.redis_url,
            broker_url=self.services.redis_url,
            encoder=self._encoders[0],
            metrics_dir=str(self.folder / f"metrics-{self._cell}"),
        )

    @property
    def environ(self) -> dict[str, str]:
        """What names the services, and the clock, to workers and commands."""
        return {
            "OPENSEARCH_URL": self.proxy.url,
            "REDIS_URL": self.services.redis_url,
            "TRIFUSE_BROKER_URL": self.services.redis_url,
            "TRIFUSE_METRICS_DIR": str(self.settings.metrics_dir),
            "PYTHONPATH": os.pathsep.join(
                filter(None, [str(clock_folder(self.folder)), os.environ.get("PYTHONPATH")])
            ),
            CLOCK_FILE: str(self.folder / "clock"),
        }

    @property
    def app(self) -> TrifuseCelery:
        """An app on the stack's broker."""
        return create_app(self.settings)

    def counted(self, name: str) -> int:
        """One of the workers' counters, summed over all processes that there ever were in this cell."""
        return sums(read_metrics(Path(str(self.settings.metrics_dir))))[name]

    @property
    def processes(self) -> set[int]:
        """The processes of the pools that run."""
        found = read_metrics(Path(str(self.settings.metrics_dir)))
        return {counters.pid for counters in found if start_of(counters.pid)}

    @contextmanager
    def cell(self, encoders: Sequence[str] = (DEFAULT_ENCODER,)) -> Iterator[None]:
        """Workers for one cell, on an empty Redis."""
        self._cell += 1
        self._encoders = tuple(encoders)
        self.killed = self.interrupted = 0
        self.proxy.slow_s, self.proxy.storm, self.proxy.refused = SLOW_S, "", 0
        self.proxy.killed.clear()
        self.proxy.kill_writers(set, [])
        set_clock(self.folder / "clock", 0.0)
        self.redis.flushall()
        self.start_workers()
        try:
            yield
        finally:
            self._stop_workers()

    def start_workers(self) -> None:
        """Start the workers, and wait until they take tasks."""
        for number, encoder in enumerate(self._encoders):
            self._workers[encoder] = start_worker(
                self.folder / "workers",
                settings=self.settings,
                concurrency=PROCESSES,
                name=f"faults-{number}",
                environ={**self.environ, "TRIFUSE_ENCODER": encoder},
            )

    def kill_workers(self) -> None:
        """The whole workers at once (SIGKILL)."""
        self.killed += PROCESSES * len(self._workers)
        self._stop_workers()

    def _stop_workers(self) -> None:
        while self._workers:
            stop(self._workers.popitem()[1].process, force=True)

    def kill_process(self) -> None:
        """One process of the pool (SIGKILL); the worker starts another."""
        for pid in sorted(self.processes):
            os.kill(pid, signal.SIGKILL)
            self.killed += 1
            return

    def kill_writers(self, stages: list[Stage]) -> None:
        """Have processes of the pool killed in the middle of their bulk writes, one for each stage."""
        self.killed += len(stages)
        self.proxy.kill_writers(lambda: self.processes, stages)


@contextmanager
def started() -> Iterator[Stack]:
    """A stack in a folder of its own, which is deleted afterwards."""
    with tempfile.TemporaryDirectory(prefix="trifuse-faults-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # OpenSearch doesn't run as root
        with LocalServices(folder / "services") as services, proxied(services.opensearch_url) as proxy:
            yield Stack(services, folder, proxy)
