"""A watch outlives the restart of everything around it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from queue import Empty, Queue
from typing import Any

import pytest
from celery import Celery
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from trifuse.deploy.config import opensearch_client, resolve
from trifuse.encoder.errors import TrifuseError
from trifuse.indexer.follow import Patience
from trifuse.indexer.watch import watch
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import celery_enqueue

INDEX = "watch-restarts"


@pytest.fixture
def client(own_services: Any) -> Iterator[OpenSearch]:
    """A client of the services that this test restarts."""
    made = opensearch_client(resolve(opensearch=own_services.opensearch_url, redis=own_services.redis_url))
    yield made
    made.indices.delete(index=f"{INDEX}*", params={"ignore_unavailable": "true"})
    made.close()


@pytest.fixture
def broker(own_services: Any) -> Iterator[Celery]:
    """The broker that is stopped."""
    app = Celery(broker=own_services.broker_url)
    yield app
    app.close()


def test_opensearch_and_redis_are_restarted_while_it_watches(
    own: Any, own_services: Any, client: OpenSearch, broker: Celery, encoder: Any, until: Any, in_thread: Any
) -> None:
    index, said = own(INDEX), []
    index.attach()
    send = celery_enqueue(broker)

    work: Queue[Any] = Queue()

    def enqueue(name: str, field: str, space: Any, ids: Any, /) -> None:
        send(name, field, space, ids)  # raises while Redis is away
        work.put((name, field, ids))

    def works(stop: threading.Event) -> None:
        """As a worker: beside the watch, and it outlives an outage for as long as it is patient."""
        while not stop.is_set():
            with suppress(Empty, TrifuseError, OpenSearchException):
                embed(client, encoder, *work.get(timeout=0.1))

    in_thread(works)

    patience = Patience(lease_s=1.0, poll_s=0.1)
    in_thread(
        lambda stop: watch(
            client, INDEX, enqueue, stop=stop, patience=patience, interval_s=0.3, say=said.append
        )
    )
    until(lambda: index.holds("0", "The first edition"))

    own_services.local.stop_redis(force=True)
    try:
        index.put("0", "The second edition")
        until(lambda: any("can't be reached" in text for text in said))
    finally:
        own_services.local.start_redis(empty=True)
    until(lambda: index.holds("0", "The second edition"))

    own_services.local.stop_opensearch(force=True)
    try:
        until(lambda: any("doesn't answer" in text for text in said), within_s=60)
    finally:
        own_services.local.start_opensearch()
    index.put("1", "The harbour")
    until(lambda: index.holds("1", "The harbour"), within_s=150)
    until(lambda: said[-1] == "all is well again")
    assert len(said) == len([text for text in said if text != "all is well again"]) * 2
