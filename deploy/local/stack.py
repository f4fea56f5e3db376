"""The services on this machine as a context manager: for tests, and for a program of one's own."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from trifuse.deploy.local.artifacts import Progress, opensearch_home, silent
from trifuse.deploy.local.distribution import VERSION
from trifuse.deploy.local.opensearch import HEAP, start_opensearch
from trifuse.deploy.local.places import make_folder, require_disk
from trifuse.deploy.local.ports import free_port
from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.redis import start_redis
from trifuse.deploy.local.services import Service
from trifuse.encoder.registry import DEFAULT_ENCODER
from trifuse.worker.settings import Settings


def server_home(folder: Path) -> Path:
    """Where the programs of the server lie in a data folder."""
    return folder / f"opensearch-{VERSION}"


class LocalServices:
    """OpenSearch, Redis and workers while the block runs, on ports of their own; data stays in the folder.

        with LocalServices(Path("/var/tmp/mine")) as services:
            client = OpenSearch(services.opensearch_url)

    Args:
        folder: keeps programs, data and logs; must be reachable for others where we are root.
        workers: processes that embed; none by default.
        encoder: of the workers.
        heap: of OpenSearch, as `512m` or `1g`.
        settings: further ones of `opensearch.yml`.

    Raises:
        LocalServiceError, DownloadFailed: on entering; what had been started is ended.
    """

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 0,
        encoder: str = DEFAULT_ENCODER,
        heap: str = HEAP,
        settings: Mapping[str, Any] | None = None,
        progress: Progress = silent,
    ) -> None:
        self._folder = folder
        self._workers = workers
        self._encoder = encoder
        self._heap = heap
        self._settings = dict(settings or {})
        self._progress = progress
        self._opensearch: Service | None = None
        self._redis: Service | None = None
        self._worker: Service | None = None
        self._ports: dict[str, int] = {}

    def __enter__(self) -> Self:
        try:
            self.start_redis()
            self.start_opensearch()
            if self._workers:
                self.start_worker()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def opensearch_url(self) -> str:
        """Where OpenSearch answers; the same after a restart."""
        return f"http://127.0.0.1:{self._port('opensearch')}"

    @property
    def redis_url(self) -> str:
        """Where Redis answers; the same after a restart."""
        return f"redis://127.0.0.1:{self._port('redis')}/0"

    def start_opensearch(self) -> None:
        """Start the server, on the port that it had."""
        require_disk(make_folder(self._folder))
        home = opensearch_home(server_home(self._folder), progress=self._progress)
        self._opensearch = start_opensearch(
            home,
            self._folder / "opensearch",
            port=self._port("opensearch"),
            heap=self._heap,
            settings=self._settings,
        )

    def stop_opensearch(self, *, force: bool = False) -> None:
        """End the server; `force` as a power cut would (SIGKILL)."""
        if self._opensearch:
            stop(self._opensearch.process, force=force)
            self._opensearch = None

    def start_redis(self, *, empty: bool = False) -> None:
        """Start Redis, on the port that it had, with the data that it had, or `empty`."""
        if empty:
            shutil.rmtree(self._folder / "redis", ignore_errors=True)
        self._redis = start_redis(self._folder / "redis", port=self._port("redis"))

    def stop_redis(self, *, force: bool = False) -> None:
        """End Redis; `force` as a power cut would (SIGKILL)."""
        if self._redis:
            stop(self._redis.process, force=force)
            self._redis = None

    def start_worker(self) -> None:
        """Start the worker."""
        from trifuse.deploy.local.workers import start_worker  # Celery takes a while to import

        self._worker = start_worker(
            self._folder / "workers",
            settings=Settings(
                opensearch_url=self.opensearch_url,
                redis_url=self.redis_url,
                broker_url=self.redis_url,
                encoder=self._encoder,
            ),
            concurrency=self._workers,
        )

    def stop_worker(self, *, force: bool = False) -> None:
        """End the worker, after what it is at; `force` at once (SIGKILL)."""
        if self._worker:
            stop(self._worker.process, force=force)
            self._worker = None

    def stop(self) -> None:
        """End all of them."""
        self.stop_worker()
        self.stop_opensearch()
        self.stop_redis()

    def _port(self, name: str) -> int:
        if name not in self._ports:
            self._ports[name] = free_port()
        return self._ports[name]
