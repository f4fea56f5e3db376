"""A click store that loses what it holds: empty after a restart, or evicting under pressure."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.config import opensearch_client, redis_client, resolve
from trifuse.indexer.mapping import index_body
from trifuse.ranker.clicks.past_queries import query_id
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.store import ClickStore
from trifuse.ranker.keys import clicks_key
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.rebuild import rebuild

INDEX = "store-faults"
QUERIES = [f"question {i}" for i in range(20)]


@pytest.fixture
def log(own_services: Any) -> Iterator[tuple[OpenSearch, Redis]]:
    """Clients of a log of 20 queries, each clicked for by five visitors on d0 to d4."""
    settings = resolve(opensearch=own_services.opensearch_url, redis=own_services.redis_url)
    client, redis = opensearch_client(settings), redis_client(settings)
    client.indices.create(index=INDEX, body=index_body({"title": {"type": "text"}}))
    for number in range(5):
        client.index(index=INDEX, id=f"d{number}", body={"title": "made up"})
    client.indices.refresh(index=INDEX)
    report = Intake(client, redis, INDEX).take(
        ClickEvent(
            query=query, doc_id=f"d{visitor % (1 + place % 5)}", user=f"v{visitor}", timestamp=time.time()
        )
        for place, query in enumerate(QUERIES)
        for visitor in range(5)
    )
    assert report.counted == 100
    yield client, redis
    for index in (INDEX, f"trifuse-queries-{INDEX}", f"trifuse-events-{INDEX}"):
        client.indices.delete(index=index)
    redis.flushall()
    client.close()


def evidence(client: OpenSearch, redis: Redis) -> dict[str, Any]:
    """What the store says of each query by its own clicks."""
    store = ClickStore(redis, client)
    certain = ClickSettings(weighting="share", doubt=-1e9)
    return {query: store.lookup(INDEX, query, budget_s=4.0, settings=certain) for query in QUERIES}


def test_a_store_that_comes_back_empty_is_neutral_and_then_equal_after_a_rebuild(
    log: tuple[OpenSearch, Redis], own_services: Any
) -> None:
    client, redis = log
    before = evidence(client, redis)
    assert before["question 1"].scores == pytest.approx({"d0": 1.0, "d1": 2 / 3})
    own_services.local.stop_redis(force=True)
    try:
        down = ClickStore(redis, client).lookup(INDEX, "question 1", budget_s=0.3)
    finally:
        own_services.local.start_redis(empty=True)
    assert (down.state, dict(down.scores)) == ("neutral", {})
    assert {len(found.scores) for found in evidence(client, redis).values()} == {0}
    assert rebuild(client, redis, INDEX).clicks == 100
    after = evidence(client, redis)
    for query in QUERIES:
        assert after[query].scores == pytest.approx(before[query].scores, rel=1e-5)
        assert (after[query].frequency, after[query].segment) == (5, "TAIL")


def test_a_store_that_evicts_is_neutral_where_it_lost_something(log: tuple[OpenSearch, Redis]) -> None:
    """Under `allkeys-lru` Redis really throws keys away; a rebuild brings them back when there is room."""
    client, redis = log
    before = evidence(client, redis)
    keys = {query: clicks_key(INDEX, 90.0, query_id(query)) for query in QUERIES}
    redis.config_set("maxmemory-policy", "allkeys-random")
    try:
        used = redis.info("memory")["used_memory"]
        redis.config_set("maxmemory", used + 2**20)
        number = 0
        while sum(redis.exists(key) for key in keys.values()) == len(keys):
            redis.set(f"filler:{number}", b"x" * 100_000)
            number += 1
            assert number < 10_000
        kept = {query for query, key in keys.items() if redis.exists(key)}
        found = evidence(client, redis)
    finally:
        redis.config_set("maxmemory", 0)
        redis.config_set("maxmemory-policy", "noeviction")
    for query in QUERIES:
        assert found[query].state == "partial"  # no vector was given; never an error
        if query in kept:  # but perhaps without the names of documents: less evidence, never other
            assert found[query].scores.keys() <= before[query].scores.keys()
        else:
            assert not found[query].scores
    for key in redis.scan_iter(match="filler:*", count=1000):
        redis.delete(key)
    rebuild(client, redis, INDEX)
    assert {q: dict(e.scores) for q, e in evidence(client, redis).items()} == {
        q: pytest.approx(e.scores, rel=1e-5) for q, e in before.items()
    }
