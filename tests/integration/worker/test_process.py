"""A real prefork worker: what its processes hold, what they tell, and what they leave in Redis."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.hints import queue_name
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sync import sync
from trifuse.worker.app import TrifuseCelery, create_app
from trifuse.worker.enqueue import EMBED_TASK, celery_enqueue
from trifuse.worker.inspection import is_listening, workers
from trifuse.worker.metrics import read_metrics, sums
from trifuse.worker.settings import Settings


def until(true: Callable[[], bool], *, timeout_s: float = 60.0) -> None:
    """Wait until it is true."""
    end = time.monotonic() + timeout_s
    while not true():
        assert time.monotonic() < end, f"still not true after {timeout_s} s"
        time.sleep(0.1)


@pytest.fixture
def app(services: Any) -> Iterator[TrifuseCelery]:
    made = create_app(Settings.from_env(services.environ()))
    yield made
    made.close()


@pytest.fixture
def titles(client: OpenSearch, index_name: str, encoder: Any) -> str:
    """An index of five titles, to be embedded by the default encoder."""
    space = Space(encoder.space, TextTemplate(("title",)))
    client.indices.create(
        index=index_name, body=index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    )
    for number in range(5):
        client.index(index=index_name, id=str(number), body={"title": f"A made-up remedy, volume {number}"})
    return index_name


def test_c2_each_child_makes_one_session_and_the_parent_none(
    client: OpenSearch,
    titles: str,
    services: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
    tmp_path: Path,
) -> None:
    services = replace(services, broker_url=lonely_broker)
    app = create_app(Settings.from_env(services.environ()))
    worker = worker_factory(concurrency=2, services=services, TRIFUSE_METRICS_DIR=str(tmp_path))
    until(lambda: len(read_metrics(tmp_path)) == 2)
    assert sync(client, titles, celery_enqueue(app, batch=1), wait=True).embedded == 5
    processes = read_metrics(tmp_path)
    assert [process.sessions for process in processes] == [1, 1]
    assert tuple(process.pid for process in processes) == worker.children
    assert worker.pid not in worker.children
    assert sums(processes)["texts"] == 5


def test_e7_the_provider_in_use_is_in_the_status(app: TrifuseCelery, worker: Any, encoder: Any) -> None:
    info = next(info for info in workers(app, timeout_s=2.0) if info.pid == worker.pid)
    assert (info.provider, info.space, info.processes) == ("cpu", encoder.space.id, 1)
    assert info.counters["sessions"] == 1
    assert is_listening(app, encoder.space)


def test_e7_a_worker_whose_device_is_missing_ends_and_says_why(worker_factory: Callable[..., Any]) -> None:
    with pytest.raises(Exception, match="cuda:0 was asked for"):
        worker_factory(TRIFUSE_DEVICE="cuda")


def test_c1_each_message_delivered_twice_makes_one_version(
    client: OpenSearch, titles: str, app: TrifuseCelery, worker: Any, encoder: Any
) -> None:
    enqueue = celery_enqueue(app, batch=2)

    def twice(*message: Any) -> None:
        enqueue(*message)
        enqueue(*message)

    assert sync(client, titles, twice, wait=True).embedded == 5
    until(lambda: not waiting(app, encoder.space))
    versions = [client.get(index=titles, id=str(number))["_version"] for number in range(5)]
    assert versions == [2] * 5  # the owner's write, and the vector


def waiting(app: TrifuseCelery, space: EncoderSpace) -> int:
    """Messages in the space's queue, or out of it and not yet acknowledged."""
    queue = queue_name(space)
    with app.connection_for_read() as connection:
        redis = connection.default_channel.client
        given = [json.loads(entry)[2] for entry in redis.hvals("unacked")]  # message, exchange, routing key
        return int(redis.llen(queue)) + given.count(queue)


@pytest.mark.timeout(600)
def test_c3_ten_thousand_tasks_leave_nothing_of_ours_in_redis(
    client: OpenSearch, titles: str, app: TrifuseCelery, worker: Any, services: Any, encoder: Any
) -> None:
    space = Space(encoder.space, TextTemplate(("title",)))
    redis = Redis.from_url(services.broker_url, decode_responses=True)
    before = set(redis.scan_iter(count=1000))  # such as queues that other tests filled for nobody
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(9_995):
            app.send_task(
                EMBED_TASK,
                kwargs={"index": titles, "field": VECTOR_FIELD, "ids": []},
                queue=queue_name(encoder.space),
                producer=producer,
            )
    celery_enqueue(app, batch=1, max_messages=20_000)(
        titles, VECTOR_FIELD, space, [(str(number), None) for number in range(5)]
    )
    until(lambda: not waiting(app, encoder.space), timeout_s=500.0)
    assert sync(client, titles, celery_enqueue(app)).pending == 0
    left = [key for key in set(redis.scan_iter(count=1000)) - before if redis.ttl(key) == -1]
    assert [key for key in left if not key.startswith(("_kombu.", "unacked"))] == []
    assert sum(redis.memory_usage(key) or 0 for key in left) < 100_000
