"""Click evidence for a query: damage, loss, and a time budget that holds whatever is down."""

from __future__ import annotations

import math
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis
from redis.crc import key_slot

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import text_hash
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.past_queries import queries_index, query_id, query_space
from trifuse.ranker.clicks.records import doc_hash
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.store import ClickStore
from trifuse.ranker.keys import clicks_key, docs_key, queries_key

NOW = 1.75e9
DAY = 86_400
QUERY = np.array([1.0, 0.0, 0.0], np.float32)
PLAIN = ClickSettings(weighting="share", doubt=-1e9)
NEAR = ClickSettings(temperature=0.1, min_similarity=0.75, doubt=-1e9)
Keep = Callable[..., None]


class Store(ClickStore):
    """Looks up without doubt, unless told otherwise, so that shares sum to 1."""

    def lookup(self, *args: Any, **given: Any) -> ClickEvidence:
        return super().lookup(*args, **{"settings": PLAIN} | given)


@pytest.fixture
def store(client: OpenSearch, redis_client: Redis) -> Store:
    return Store(redis_client, client)


# --- what was lost or damaged ---


def test_of_a_damaged_query_nothing_is_known(
    store: ClickStore, redis_client: Redis, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("near", {"d1": 1}, [0.96, 0.28, 0.0])
    keep("odd", {"d2": 1}, [0.96, -0.28, 0.0])
    keep("expired", {"d3": 1}, [0.95, 0.3, 0.0])
    keep("alien", {"d4": 1}, [0.95, -0.3, 0.0])
    odd, expired, alien = (clicks_key(index, 90.0, query_id(q)) for q in ("odd", "expired", "alien"))
    redis_client.append(odd, "x")
    redis_client.delete(expired, alien)
    redis_client.zadd(alien, {"d5": 1.0})
    evidence = store.lookup(index, "never asked", QUERY, space=space, budget_s=5)
    assert (evidence.scores, evidence.state) == ({"d1": 1.0}, "ok")


def test_numbers_that_are_no_counts_are_left_out(
    store: ClickStore, redis_client: Redis, index: str, keep: Keep
) -> None:
    keep("asthma", {"d1": 2, "d2": 1})
    for clicks in (math.nan, math.inf, -1.0):
        bad = struct.pack("<8sIff", doc_hash("d1"), int(NOW), clicks, 0.0)
        redis_client.append(clicks_key(index, 90.0, query_id("asthma")), bad)
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0, "d2": 0.5}


def test_documents_whose_ids_are_lost_are_left_out_and_told_of(
    client: OpenSearch, redis_client: Redis, index: str, keep: Keep
) -> None:
    keep("asthma", {"d1": 4, "d2": 2, "d3": 1})
    redis_client.hdel(docs_key(index, 90.0), doc_hash("d1"))
    redis_client.hset(docs_key(index, 90.0), doc_hash("d3"), "d4")
    evidence = Store(redis_client, client).lookup(index, "asthma", budget_s=5)
    assert (evidence.scores, evidence.state) == ({"d2": 0.5}, "partial")
    assert "lost the ids of 2 documents" in str(evidence.reason)


def test_the_ids_of_documents_are_asked_for_once(
    store: ClickStore, redis_client: Redis, index: str, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}
    redis_client.delete(docs_key(index, 90.0))
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}


@pytest.mark.parametrize("count", [math.inf, -math.inf, 1e300, 2.5])
def test_a_frequency_that_is_none_is_bounded(
    store: ClickStore, redis_client: Redis, index: str, keep: Keep, count: float
) -> None:
    keep("asthma", {"d1": 1})
    redis_client.hset(queries_key(index, 90.0), query_id("asthma"), str(count))
    evidence = store.lookup(index, "asthma", budget_s=5)
    assert 0 <= evidence.frequency <= 2**53
    assert evidence.scores == {"d1": 1.0}


def test_a_store_of_another_make_is_neutral(
    store: ClickStore, redis_client: Redis, index: str, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    redis_client.delete(queries_key(index, 90.0))
    redis_client.set(queries_key(index, 90.0), "x")
    evidence = store.lookup(index, "asthma", budget_s=5)
    assert (evidence.scores, evidence.state) == ({}, "neutral")
    assert "WRONGTYPE" in str(evidence.reason)


def test_a_past_query_of_another_make_leaves_the_same_query(
    store: ClickStore, client: OpenSearch, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    alien = {VECTOR_FIELD: [1.0, 0.0, 0.0], **mark(VECTOR_FIELD, query_space(space).id, text_hash("copd"))}
    client.index(index=queries_index(index), id="alien", body=alien, params={"refresh": "true"})
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.state) == ({"d1": 1.0}, "partial")


def test_an_alias_whose_name_looks_like_an_escape(
    store: ClickStore, client: OpenSearch, redis_client: Redis, index: str, space: EncoderSpace, keep: Keep
) -> None:
    alias = f"50%25-{index}"
    client.indices.put_alias(index=index, name=alias)
    keep("asthma", {"d1": 1}, index=alias)
    evidence = store.lookup(alias, "asthma", QUERY, space=space, budget_s=5)
    assert (dict(evidence.scores), evidence.state, evidence.reason) == ({"d1": 1.0}, "ok", None)
    for key in redis_client.scan_iter(match=f"trifuse:{{{alias}}}:*"):
        redis_client.delete(key)


def test_c4_one_round_trip_for_keys_of_one_slot(
    store: ClickStore, redis_client: Redis, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("near 1", {"d1": 1}, [1.0, 0.0, 0.0])
    keep("near 2", {"d1": 1}, [0.96, 0.28, 0.0])
    store.lookup(index, "asthma", QUERY, space=space, budget_s=5)  # d1's id is known from here on
    with redis_client.monitor() as monitor:
        store.lookup(index, "asthma", QUERY, space=space, budget_s=5)
        redis_client.ping()
        commands = []
        for seen in monitor.listen():
            if index in seen["command"]:
                commands.append(seen["command"].split())
            elif seen["command"] == "PING":
                break
    assert [words[0] for words in commands] == ["HGET", "MGET"]
    keys = [commands[0][1], *commands[1][1:]]
    assert len(keys) == 4
    assert len({key_slot(key.encode()) for key in keys}) == 1


def test_text_clients_of_a_cluster_get_bytes_all_the_same(
    client: OpenSearch, redis_client: Redis, index: str, keep: Keep
) -> None:
    class Cluster:
        """Has no pool of plain connections, so it is used as it is."""

        pipeline = redis_client.pipeline
        execute_command = redis_client.execute_command

    keep("asthma", {"d1": 1})
    assert Store(Cluster(), client).lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}


# --- C6: Redis, or OpenSearch, is down or slow ---


@contextmanager
def silent_server() -> Iterator[int]:
    """A server that takes connections and says nothing; its port."""
    listener = socket.create_server(("127.0.0.1", 0))
    open_: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            open_.append(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
        for connection in open_:
            connection.close()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_c6_redis_down_is_neutral_at_once(client: OpenSearch, index: str, space: EncoderSpace) -> None:
    store = Store(Redis(port=closed_port()), client)
    evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=2.0)
    assert (evidence.scores, evidence.queries, evidence.state) == ({}, (), "neutral")
    assert "the click store didn't answer" in str(evidence.reason)
    assert evidence.took_ms < 1000


def test_c6_redis_slow_is_neutral_within_the_budget_and_leaves_no_thread(
    client: OpenSearch, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    with silent_server() as port, Redis(port=port, socket_timeout=30) as redis:
        store = Store(redis, client)
        threads = threading.active_count()
        for _ in range(3):
            start = time.monotonic()
            evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=0.4)
            assert time.monotonic() - start < 0.4
            assert (evidence.scores, evidence.state) == ({}, "neutral")
            assert "Timeout" in str(evidence.reason)
        assert threading.active_count() == threads


def test_c6_opensearch_slow_leaves_the_same_query_within_the_budget(
    redis_client: Redis, index: str, space: EncoderSpace, keep: Keep
) -> None:
    keep("asthma", {"d1": 1})
    with silent_server() as port:
        # a client that would try again, and wait 30 s each time
        slow = OpenSearch(f"http://127.0.0.1:{port}", timeout=30, max_retries=3, retry_on_timeout=True)
        store = Store(redis_client, slow)
        start = time.monotonic()
        evidence = store.lookup(index, "asthma", QUERY, space=space, budget_s=0.6)
        assert time.monotonic() - start < 0.6
        slow.close()
    assert (evidence.scores, evidence.state) == ({"d1": 1.0}, "partial")
    assert "similar past queries weren't found" in str(evidence.reason)


def test_c6_it_recovers_by_itself(client: OpenSearch, redis_client: Redis, index: str, keep: Keep) -> None:
    keep("asthma", {"d1": 1})
    store = Store(redis_client, client)
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}
    store._bounded[5 / 6].connection_pool.disconnect()
    assert store.lookup(index, "asthma", budget_s=5).scores == {"d1": 1.0}
