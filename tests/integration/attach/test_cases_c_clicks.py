"""The case C5 from the field: odd click events, on indexes and names of other writers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.types import Encoder
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import complete
from trifuse.ranker import ClickStore, HybridRanker
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.embedding import embed

DAY = 86_400.0


def routed(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, plan: Any) -> str:
    """An index that requires a routing."""
    name: str = make({"_routing": {"required": True}}, {"number_of_shards": 2}, routing="north")
    attach(name)
    return name


def alias_over_two(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, plan: Any) -> str:
    """An alias over two indexes, that have the same ids."""
    first, second = make(suffix="-a"), make(suffix="-b")
    alias = f"{first}-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=alias)
    attach(alias)
    return alias


def filtered(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, plan: Any) -> str:
    """An alias that hides a document."""
    name: str = make()
    client.index(index=name, id="d99", body={"title": "Gout", "body": "x", "year": 1999}, refresh=True)
    alias = f"{name}-late"
    client.indices.put_alias(index=name, name=alias, body={"filter": {"range": {"year": {"gte": 2000}}}})
    attach(alias)
    return alias


def copied(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, plan: Any) -> str:
    """An alias that was moved to a copy with k-NN on."""
    found = plan(make(settings={"knn": False}), copy=True)
    copy = begin(client, found.name, alias=found.alias, space_field=(found.field, found.space))
    done = complete(
        client, copy, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None
    )
    assert done.switched
    return str(found.alias)


@pytest.fixture(params=[routed, alias_over_two, filtered, copied], ids=lambda made: made.__name__)
def name(
    request: pytest.FixtureRequest,
    client: OpenSearch,
    redis_client: Redis,
    encoder: Encoder,
    make: Any,
    attach: Any,
    plan: Any,
) -> Iterator[str]:
    """What clicks are sent for; its log is deleted after the test."""
    made = request.param(client, encoder, make, attach, plan)
    yield made
    client.indices.delete(index=f"trifuse-*-{made}", params={"expand_wildcards": "all"})
    for key in redis_client.scan_iter(match=f"trifuse:{{{made}}}*", count=1000):
        redis_client.delete(key)


def click(event_id: str, **change: Any) -> ClickEvent:
    return ClickEvent(**({"query": "asthma", "doc_id": "0", "event_id": event_id, "user": event_id} | change))


def test_c5_each_odd_event_is_rejected_with_a_reason_or_accepted_once(
    client: OpenSearch, redis_client: Redis, encoder: Encoder, name: str
) -> None:
    now = time.time()
    report = Intake(client, redis_client, name, min_visitors=1).take(
        [
            click("good"),
            click("good"),
            click("no-query-id", query_id=None),
            click("no-impression", query_id="q-never-shown", doc_id="1"),
            click("unknown-document", doc_id="d99"),
            click("ahead", timestamp=now + 3 * 365 * DAY),
            click("long", query="x" * 10_240),
            click("null", query=None),
            click("surrogate", query="half \ud800"),
            Fault(checks.NOT_AN_EVENT),
        ]
    )
    assert (report.counted, dict(report.rejected)) == (
        3,
        {
            checks.DUPLICATE: 1,
            checks.UNKNOWN_DOCUMENT: 1,
            checks.IN_THE_FUTURE: 1,
            checks.QUERY_TOO_LONG: 1,
            checks.NO_QUERY: 1,
            checks.UNREADABLE: 1,
            checks.NOT_AN_EVENT: 1,
        },
    )
    assert Intake(client, redis_client, name, min_visitors=1).take([click("good")]).counted == 0
    store = ClickStore(redis_client, client)
    found = store.lookup(name, "asthma", budget_s=5, settings=ClickSettings(weighting="share", doubt=-1e9))
    assert found.scores == pytest.approx({"0": 1.0, "1": 0.5}, rel=1e-3)
    answer = HybridRanker(client, encoder, store).search(name, text="asthma")
    assert answer["trifuse"]["legs"]["clicks"]["state"] == "ok", answer["trifuse"]["legs"]["clicks"]
    assert [hit["_id"] for hit in answer["hits"]["hits"]].count("0") == (2 if "both" in name else 1)
