"""What one process of a worker holds: a client, and one encoder session that it made itself.

The parent of a prefork pool makes neither: a session that was made before the fork waits for threads that
don't exist in the child. So a process that finds what another one made drops it, and makes its own.
"""

from __future__ import annotations

import os
import tempfile
import threading
from functools import cached_property
from pathlib import Path

from opensearchpy import OpenSearch

from trifuse.encoder.registry import load_encoder
from trifuse.encoder.types import Encoder
from trifuse.worker.metrics import CountedEncoder, Metrics
from trifuse.worker.pressure import Pressure
from trifuse.worker.settings import Settings


class Resources:
    """The client and the encoder of this process, each made when it is first asked for.

    Args:
        settings: where the services are, and which encoder.
        processes: how many processes share this machine's cores; set by the worker before it forks.

    `parent` is the process that made it: the worker's own, in a child of its pool.
    """

    def __init__(self, settings: Settings, processes: int = 1) -> None:
        self.settings = settings
        self.processes = processes
        self.parent = os.getpid()
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._client: OpenSearch | None = None
        self._encoder: Encoder | None = None
        self._metrics: Metrics | None = None
        self._pressure: Pressure | None = None

    @cached_property
    def metrics_dir(self) -> Path:
        """The folder that the processes of this worker share; asked for before the fork."""
        return Path(self.settings.metrics_dir or tempfile.mkdtemp(prefix="trifuse-worker-"))

    @property
    def threads(self) -> int:
        """CPU threads for one process: its share of the cores that the worker may use."""
        return max(1, len(os.sched_getaffinity(0)) // self.processes)

    def client(self) -> OpenSearch:
        """This process's client."""
        with self._lock:
            self._drop_inherited()
            if self._client is None:
                self._client = connect(self.settings)
            return self._client

    def metrics(self) -> Metrics:
        """This process's counters."""
        with self._lock:
            return self._own_metrics()

    def pressure(self) -> Pressure:
        """What this process knows of the load."""
        with self._lock:
            self._drop_inherited()
            if self._pressure is None:
                self._pressure = Pressure(self.settings.max_search_ms)
            return self._pressure

    def encoder(self) -> Encoder:
        """This process's encoder.

        Raises:
            EncoderError: there is no such model, or it can't run on the device.
        """
        with self._lock:
            self._drop_inherited()
            if self._encoder is None:
                settings = self.settings
                encoder = load_encoder(settings.encoder, device=settings.device, threads=self.threads)
                metrics = self._own_metrics()
                metrics.started(encoder)
                self._encoder = CountedEncoder(encoder, metrics)
            return self._encoder

    def _own_metrics(self) -> Metrics:
        self._drop_inherited()
        if self._metrics is None:
            self._metrics = Metrics(self.metrics_dir)
        return self._metrics

    def _drop_inherited(self) -> None:
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._client = self._encoder = self._metrics = self._pressure = None

    def __getstate__(self) -> tuple[Settings, int]:
        return self.settings, self.processes

    def __setstate__(self, state: tuple[Settings, int]) -> None:
        self.__init__(*state)  # type: ignore[misc]


def connect(settings: Settings) -> OpenSearch:
    """A client of the search service; it tries again by itself what can't have had an effect."""
    return OpenSearch(
        settings.opensearch_url, timeout=30, max_retries=3, retry_on_timeout=True, pool_maxsize=10
    )
