"""What may happen in the middle of a load, and that `sync` ends with one valid vector for every document.

How often the encoder was called is read from the counters that each process of the worker leaves in a file:
they count a text before it is encoded, so that what a killed process was doing is in them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sync import Patience, SyncReport, sync
from trifuse.worker.app import create_app
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.inspection import is_listening
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings

DOCUMENTS = 240
BATCH = 16
PATIENCE = Patience(lease_s=5.0, stall_s=90.0, silence_s=60.0)


def title(number: int) -> str:
    return f"A made-up remedy against a made-up illness, volume {number}"


class Load:
    """Documents on their way, through services that a test may stop."""

    def __init__(self, services: Any, encoder: Any, index: str, metrics: Path) -> None:
        self.services = services
        self.encoder = encoder
        self.index = index
        self.metrics = metrics
        self.client = OpenSearch(services.opensearch_url, timeout=30)
        self.app = create_app(Settings.from_env(services.environ()))
        self.space = Space(encoder.space, TextTemplate(("title",)))
        self._threads = ThreadPoolExecutor(1)

    def write(self) -> None:
        body = index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: self.space}, shards=2)
        self.client.indices.create(index=self.index, body=body)
        actions = (
            Action(op="index", index=self.index, id=str(number), source={"title": title(number)})
            for number in range(DOCUMENTS)
        )
        assert not bulk(self.client, actions, refresh=True).failed

    def start(self, enqueue: Callable[..., None] | None = None) -> Future[SyncReport]:
        """Sync in the background."""
        return self._threads.submit(
            sync,
            OpenSearch(self.services.opensearch_url, timeout=30),
            self.index,
            enqueue or celery_enqueue(self.app, batch=BATCH),
            wait=True,
            patience=PATIENCE,
            listening=lambda space: is_listening(self.app, space.encoder),
        )

    @property
    def encoded(self) -> int:
        """Texts that were given to the encoder, by all processes that were ever there."""
        return sums(read_metrics(self.metrics))["texts"]

    def until_encoded(self, count: int) -> None:
        end = time.monotonic() + 60
        while self.encoded < count:
            assert time.monotonic() < end, f"{self.encoded} of {count} texts encoded after a minute"
            time.sleep(0.02)
        assert self.encoded < DOCUMENTS, "too late to be in the middle"

    def check(self, report: SyncReport) -> None:
        """Each document has one vector, of its text; nothing is pending, and a second sync writes nothing."""
        assert (report.pending, report.failed, report.stalled) == (0, 0, "")
        assert report.embedded + report.skipped == DOCUMENTS
        hits = self.client.search(index=self.index, body={"size": DOCUMENTS, "version": True})["hits"]["hits"]
        assert sorted(int(hit["_id"]) for hit in hits) == list(range(DOCUMENTS))
        for hit in hits:
            mark = hit["_source"]["trifuse"]["fields"][VECTOR_FIELD]
            assert mark == {"space": self.space.id, "hash": text_hash(hit["_source"]["title"])}
        vectors = np.array([hit["_source"][VECTOR_FIELD] for hit in hits], dtype=np.float32)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3)
        some = hits[:8]
        expected = self.encoder.encode_documents([hit["_source"]["title"] for hit in some])
        # int8: a vector moves a little with the batch that its text was in
        cosines = np.einsum("ij,ij->i", vectors[:8], expected)
        assert cosines.min() > 0.99
        before = self._versions()
        again = sync(self.client, self.index, celery_enqueue(self.app), wait=True, patience=PATIENCE)
        assert again == SyncReport(pending=0, embedded=0, skipped=DOCUMENTS, failed=0)
        assert self._versions() == before

    def versions(self) -> set[int]:
        return set(self._versions().values())

    def _versions(self) -> dict[str, int]:
        self.client.indices.refresh(index=self.index)
        hits = self.client.search(
            index=self.index, body={"size": DOCUMENTS, "version": True, "_source": False}
        )["hits"]["hits"]
        return {hit["_id"]: hit["_version"] for hit in hits}

    def close(self) -> None:
        self._threads.shutdown()
        self.client.indices.delete(index=self.index, params={"ignore_unavailable": "true"})
        self.app.close()


@pytest.fixture
def load(own_services: Any, encoder: Any, tmp_path: Path) -> Iterator[Load]:
    made = Load(own_services, encoder, f"faults-{os.getpid()}-{time.monotonic_ns()}", tmp_path)
    made.write()
    yield made
    made.close()


@pytest.fixture
def start_worker(worker_factory: Callable[..., Any], load: Load) -> Callable[[], Any]:
    def start() -> Any:
        return worker_factory(concurrency=2, services=load.services, TRIFUSE_METRICS_DIR=str(load.metrics))

    return start


def test_the_whole_worker_is_killed_in_the_middle(load: Load, start_worker: Callable[[], Any]) -> None:
    worker = start_worker()
    running = load.start()
    load.until_encoded(4 * BATCH)
    worker.kill()
    start_worker()
    load.check(running.result(timeout=120))
    assert load.encoded <= DOCUMENTS + 2 * BATCH  # two processes were killed


def test_one_process_of_the_pool_is_killed_in_the_middle(load: Load, start_worker: Callable[[], Any]) -> None:
    worker = start_worker()
    running = load.start()
    load.until_encoded(4 * BATCH)
    worker.kill_child()
    load.check(running.result(timeout=120))
    assert load.encoded <= DOCUMENTS + BATCH


def test_redis_comes_back_empty(load: Load, start_worker: Callable[[], Any]) -> None:
    start_worker()
    running = load.start()
    load.until_encoded(4 * BATCH)
    load.services.local.stop_redis(force=True)
    load.services.local.start_redis(empty=True)
    load.check(running.result(timeout=120))
    assert load.encoded <= DOCUMENTS + 2 * BATCH


def test_opensearch_is_killed_and_comes_back(load: Load, start_worker: Callable[[], Any]) -> None:
    start_worker()
    running = load.start()
    load.until_encoded(4 * BATCH)
    load.services.local.stop_opensearch(force=True)
    load.services.local.start_opensearch()
    load.check(running.result(timeout=180))
    assert load.encoded <= DOCUMENTS + 2 * BATCH


def test_c3_a_broker_that_evicts_is_refused_at_start_and_by_sync(load: Load, tmp_path: Path) -> None:
    redis = Redis.from_url(load.services.broker_url)
    redis.config_set("maxmemory-policy", "allkeys-lru")
    environ = os.environ | load.services.environ()
    # Not the project's folder: from there a bare `worker` could be imported.
    run = partial(subprocess.run, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environ)
    try:
        worker = run([sys.executable, "-m", "celery", "-A", "trifuse.worker.app", "worker", "-c", "1"])
        command = run([str(Path(sys.executable).with_name("trifuse")), "sync", load.index])
    finally:
        redis.config_set("maxmemory-policy", "noeviction")
        redis.close()
    for done in (worker, command):
        assert done.returncode == 1
        assert "maxmemory-policy is 'allkeys-lru', expected 'noeviction'" in " ".join(done.stderr.split())


def test_c1_each_message_is_delivered_twice(load: Load, start_worker: Callable[[], Any]) -> None:
    start_worker()
    enqueue = celery_enqueue(load.app, batch=BATCH)

    def twice(*message: Any) -> None:
        enqueue(*message)
        enqueue(*message)

    load.check(load.start(twice).result(timeout=120))
    assert load.versions() == {2}
