"""Live clicks through a real worker, and what they do to a search."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker.clicks.store import ClickStore
from trifuse.worker.app import create_app
from trifuse.worker.clicks.errors import ClicksUndelivered
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.produce import TASK, record_clicks
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.settings import Settings

if TYPE_CHECKING:
    from trifuse.encoder.types import Encoder

Aggregates = Callable[[], dict[str, dict[str, float]]]


def eventually(check: Callable[[], bool], within_s: float = 90.0) -> None:
    end = time.monotonic() + within_s
    while not check():
        assert time.monotonic() < end, f"not within {within_s} s"
        time.sleep(0.2)


def queries_total(aggregates: Aggregates) -> float:
    """Clicks for public queries."""
    return sum(aggregates().get("h90:queries", {}).values())


def test_live_clicks_count_once_and_find_similar_queries(
    services: Any,
    worker: Any,
    client: OpenSearch,
    redis_client: Redis,
    make_index: Callable[..., str],
    encoder: Encoder,
    aggregates: Aggregates,
) -> None:
    index = make_index(encoder.space)
    app = create_app(Settings(broker_url=services.broker_url))
    clicks = [
        ClickEvent(query=query, doc_id=doc, session=f"session {n}")
        for query, doc in (("asthma in children", "d1"), ("knee surgery", "d2"))
        for n in range(3)
    ]
    record_clicks(app, index, clicks)
    eventually(lambda: queries_total(aggregates) == 6)

    # the same message twice, as after a redelivery, with an event that is no event
    events = [{"event_id": "e1", "query": "asthma in children", "doc_id": "d1"}, None, {"query": 3}]
    for _ in range(2):
        app.send_task(TASK, kwargs={"index": index, "events": events}, queue="trifuse")
    record_clicks(app, index, [ClickEvent(event_id="last", query="knee surgery", doc_id="d2")])
    eventually(lambda: queries_total(aggregates) == 8)

    # the past queries got their vectors: the worker was told of them
    store = ClickStore(redis_client, client)
    vector = encoder.encode_queries(["paediatric asthma"])[0]

    def similar() -> list[str]:
        found = store.lookup(index, "paediatric asthma", vector, space=encoder.space, budget_s=5)
        return [query.text for query in found.queries]

    eventually(lambda: similar() == ["asthma in children", "knee surgery"])
    found = store.lookup(index, "paediatric asthma", vector, space=encoder.space, budget_s=5)
    assert list(found.scores) == ["d1", "d2"]
    assert found.scores["d1"] > 10 * found.scores["d2"]
    app.close()


def test_a_worker_killed_among_live_clicks_counts_each_once(
    services: Any,
    worker_factory: Callable[..., Any],
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    aggregates: Aggregates,
) -> None:
    worker = worker_factory()
    app = create_app(Settings(broker_url=services.broker_url))
    clicks = [
        ClickEvent(event_id=f"e{i}", query=f"query {i % 7}", doc_id=f"d{i % 10}", timestamp=1.75e9 + i)
        for i in range(200)
    ]
    for start in range(0, len(clicks), 5):
        record_clicks(app, index, clicks[start : start + 5])
    eventually(lambda: queries_total(aggregates) > 0)
    worker.kill_child()  # its message comes again
    eventually(lambda: queries_total(aggregates) == 200)
    counted = aggregates()
    redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000))
    rebuild(client, redis_client, index)
    assert aggregates() == {key: pytest.approx(found, rel=1e-6) for key, found in counted.items()}
    app.close()


def test_a_broker_that_is_down_is_said_at_once() -> None:
    app = create_app(Settings(broker_url="redis://127.0.0.1:1/0"))
    with pytest.raises(ClicksUndelivered, match="counted once"):
        record_clicks(app, "trials", [ClickEvent(query="asthma", doc_id="d1")])
    app.close()
