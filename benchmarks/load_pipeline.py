"""Services, a worker and a loader, and how long they take from a file of trials to the last vector."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from opensearchpy import OpenSearch

from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.stack import LocalServices
from trifuse.deploy.local.workers import start_worker
from trifuse.encoder.pooling import unit_norm
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoding, Vectors
from trifuse.indexer.counts import counts
from trifuse.indexer.hints import Hint
from trifuse.indexer.load import load
from trifuse.indexer.readers import read_trials
from trifuse.indexer.trial_parts import template_for
from trifuse.worker.app import create_app
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

BROKER_DATABASE = 11
"""Of the Redis that is used: no other worker listens there."""
PATIENCE_S = 300.0
POLL_S = 0.05


class _Random:
    """An encoder that doesn't look at the texts."""

    provider = "none"

    def __init__(self, space: EncoderSpace) -> None:
        self.space = space
        self._random = np.random.default_rng(0)

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """(n, dim) float32, unit norm."""
        vectors = unit_norm(self._random.normal(size=(len(texts), self.space.dimension)).astype(np.float32))
        return Encoding(vectors, np.zeros(len(texts), dtype=np.bool_), {})

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32, unit norm."""
        return self.encode(texts, role="query").vectors

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32, unit norm."""
        return self.encode(texts, role="document").vectors


class Pipeline:
    """The services, the queue and a worker that is ready."""

    def __init__(self, settings: Settings, metrics: Path) -> None:
        self._client = OpenSearch(settings.opensearch_url, timeout=60)
        encoder = describe_encoder(settings.encoder)
        self._space = Space(encoder, template_for(encoder))
        self._enqueue = celery_enqueue(create_app(settings))
        self._metrics = metrics

    def run(self, trials: Path, texts: int) -> float:
        """Seconds from the first record until the last vector, in an index that is deleted afterwards."""
        wanted = self._embedded() + texts
        with self._index() as index:
            start = time.perf_counter()
            load(self._client, read_trials([trials]), index, space=self._space, enqueue=self._enqueue)
            while self._embedded() < wanted:
                if time.perf_counter() - start > PATIENCE_S:
                    sys.exit(f"{wanted - self._embedded()} vectors are missing after {PATIENCE_S:.0f} s")
                time.sleep(POLL_S)
            elapsed = time.perf_counter() - start
            self._client.indices.refresh(index=index)
            found = counts(self._client, index)
            if found["current"] != texts:
                sys.exit(f"expected {texts} documents with their vector, found {found}")
        return elapsed

    def warm_up(self, trials: Path) -> None:
        """Load trials, each with a random vector: a server's code is compiled while it runs."""
        drawn = _Random(self._space.encoder)

        def write(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
            embed(self._client, drawn, index, field, ids)

        with self._index() as index:
            load(self._client, read_trials([trials]), index, space=self._space, enqueue=write)

    @contextmanager
    def _index(self) -> Iterator[str]:
        """The name of an index that is deleted afterwards."""
        name = f"speed-{uuid.uuid4().hex[:12]}"
        try:
            yield name
        finally:
            self._client.indices.delete(index=name, params={"ignore_unavailable": "true"})

    def _embedded(self) -> int:
        """Vectors written so far, as the worker's processes count them: the index isn't asked meanwhile."""
        return sums(read_metrics(self._metrics))["embedded"]


@contextmanager
def running_pipeline(folder: Path, processes: int) -> Iterator[Pipeline]:
    """Everything started, and ended afterwards; the services too, where the environment names none."""
    with ExitStack() as stack:
        opensearch_url, redis_url = os.environ.get("OPENSEARCH_URL"), os.environ.get("REDIS_URL")
        if not (opensearch_url and redis_url):
            local = stack.enter_context(LocalServices(folder / "services"))
            opensearch_url, redis_url = local.opensearch_url, local.redis_url
        metrics = folder / "metrics"
        settings = Settings(
            opensearch_url=opensearch_url,
            redis_url=redis_url,
            broker_url=urlunsplit(urlsplit(redis_url)._replace(path=f"/{BROKER_DATABASE}")),
            metrics_dir=str(metrics),
        )
        worker = start_worker(
            folder / "worker",
            settings=settings,
            concurrency=processes,
            name=f"speed-{os.getpid()}",
            environ={"TRIFUSE_METRICS_DIR": str(metrics)},
        )
        stack.callback(stop, worker.process)
        yield Pipeline(settings, metrics)
