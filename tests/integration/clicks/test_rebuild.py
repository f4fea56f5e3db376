"""A rebuild makes what incremental counting made."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis
from redis.client import NEVER_DECODE

from trifuse.encoder.spaces import EncoderSpace
from trifuse.ranker.clicks.past_queries import queries_index, query_id, query_space
from trifuse.worker.clicks import checks
from trifuse.worker.clicks import rebuild as module
from trifuse.worker.clicks.errors import SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import encoder_of, events_index, queries_body
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.clicks.store import stored_event, write_events

NOW = 1.75e9
YEAR = 365 * 86_400.0
Aggregates = Callable[[], dict[str, dict[str, float]]]
PastQueries = Callable[[], dict[str, dict[str, Any]]]


def made_up(number: int, prefix: str = "e") -> list[ClickEvent]:
    draw = random.Random(number)
    return [
        ClickEvent(
            event_id=f"{prefix}{i}",
            query=draw.choice(["asthma", "Asthma ", "ASTHMA?", "copd", "Copd", "heart failure", f"rare {i}"]),
            doc_id=f"d{draw.randrange(10)}",
            timestamp=round(NOW - draw.random() * 2 * YEAR, 3),
            count=draw.choice([1, 1, 1, 4]),
            position=draw.choice([None, 1, 3]),
        )
        for i in range(number)
    ]


def visits(number: int, prefix: str = "v") -> list[ClickEvent]:
    """Searches of a few visitors with their clicks, some of them greedy, over three days."""
    draw = random.Random(number)
    events = []
    for i in range(number):
        query = draw.choice(["asthma", "Asthma", "copd", "heart failure", f"rare {i % 20}"])
        when = NOW + draw.random() * 3 * 86_400.0
        who = {"session": draw.choice(["s1", "s1", "s1", "s2", "s3", f"s{i}"]), "timestamp": round(when, 3)}
        shown = tuple(draw.sample([f"d{n}" for n in range(10)], 4))
        if i % 3:
            events.append(
                ClickEvent(event_id=f"{prefix}{i}p", query=query, kind="impression", shown=shown, **who)
            )
        events.append(
            ClickEvent(
                event_id=f"{prefix}{i}",
                query=query,
                doc_id=draw.choice(shown),
                query_id=f"search {i}" if i % 3 else None,
                shown=() if i % 3 else shown,
                **who,
            )
        )
    return events


def approx(found: dict[str, dict[str, float]]) -> dict[str, object]:
    return {key: pytest.approx(value, rel=1e-6) for key, value in found.items()}


def forget_redis(redis_client: Redis, index: str) -> None:
    redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000))


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages so small that a short log takes many."""
    monkeypatch.setattr(module, "QUERIES_AT_ONCE", 7)
    monkeypatch.setattr(module, "EVENTS_AT_ONCE", 5)


def test_after_redis_was_emptied_a_rebuild_equals_what_was(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    intake: Intake,
    aggregates: Aggregates,
    past_queries: PastQueries,
) -> None:
    intake.take(made_up(80))
    counted, queries = aggregates(), past_queries()
    forget_redis(redis_client, index)
    client.indices.delete(index=queries_index(index))
    report = rebuild(client, redis_client, index, min_visitors=1)
    assert aggregates() == approx(counted)
    assert past_queries() == queries
    pairs = sum(not name.endswith("shown") for key, docs in counted.items() if ":q:" in key for name in docs)
    assert (report.queries, report.pairs, report.removed, report.unsettled) == (len(queries), pairs, 0, 0)
    assert report.clicks == sum(query["frequency"] for query in queries.values())


@pytest.mark.parametrize("batch", [1000, 9])
def test_a_rebuild_gives_what_counting_gave_caps_pages_and_privacy_included(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    aggregates: Aggregates,
    past_queries: PastQueries,
    batch: int,
) -> None:
    times = iter(range(1000))
    rules = {"min_visitors": 3, "max_a_day": 10}
    intake = Intake(client, redis_client, index, clock=lambda: 2e9 + next(times), **rules)
    report = intake.take(visits(150), batch=batch)
    assert report.counted < 150
    assert report.rejected.keys() == {checks.OVER_CAP, checks.REPEATED}
    counted, queries = aggregates(), past_queries()
    marks = _marks(redis_client, index)
    assert counted.keys() > {"h90:few", "h90:queries"}
    forget_redis(redis_client, index)
    client.indices.delete(index=queries_index(index))
    made = rebuild(client, redis_client, index, clock=lambda: 2e9, **rules)
    assert aggregates() == approx(counted)
    assert past_queries() == queries
    assert set(queries) == set(counted["h90:queries"])
    assert made.clicks == report.counted
    assert _marks(redis_client, index) == marks  # so that what comes next falls under the same caps
    assert rebuild(client, redis_client, index, clock=lambda: 2e9, **rules) == made


def _marks(redis: Redis, index: str) -> dict[str, dict[bytes, int]]:
    """How much each visitor did on each day."""
    return {
        key: {
            visitor: len(value)
            for visitor, value in redis.execute_command("HGETALL", key, **{NEVER_DECODE: []}).items()
        }
        for key in redis.scan_iter(match=f"trifuse:{{{index}}}:*:visits:*", count=1000)
    }


def test_some_queries_are_made_again_and_the_others_left(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    intake: Intake,
    aggregates: Aggregates,
    past_queries: PastQueries,
) -> None:
    intake.take(made_up(60))
    counted, queries = aggregates(), past_queries()
    asthma, copd = query_id("asthma"), query_id("copd")
    redis_client.delete(f"trifuse:{{{index}}}:h90:q:{asthma}", f"trifuse:{{{index}}}:h90:q:{copd}")
    report = rebuild(client, redis_client, index, queries=[asthma, query_id("never seen")], min_visitors=1)
    assert report.queries == 1
    assert aggregates() == approx({key: value for key, value in counted.items() if copd not in key})
    assert past_queries() == queries


def test_a_query_whose_visitors_are_forgotten_is_no_longer_public(
    client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates, past_queries: PastQueries
) -> None:
    intake = Intake(client, redis_client, index)
    for n in range(3):
        intake.take([ClickEvent(event_id=f"e{n}", query="asthma", doc_id="d1", session=f"s{n}")])
    assert set(past_queries()) == {query_id("asthma")}
    for event, left in (("e0", {query_id("asthma"): 2, f"{query_id('asthma')} visitors": 2}), ("e1", None)):
        client.delete(index=events_index(index), id=event, params={"refresh": "true"})
        if left is None:
            client.delete(index=events_index(index), id="e2", params={"refresh": "true"})
        report = rebuild(client, redis_client, index, queries=[query_id("asthma")])
        assert report.removed == (1 if left else 0)
        assert aggregates().get("h90:few") == left
        assert past_queries() == {}
    assert aggregates() == {}


def test_a_rebuild_of_what_is_right_changes_nothing(
    client: OpenSearch, redis_client: Redis, index: str, intake: Intake, aggregates: Aggregates
) -> None:
    intake.take(made_up(40))
    counted = aggregates()
    versions = _versions(client, index)
    rebuild(client, redis_client, index, min_visitors=1)
    assert aggregates() == approx(counted)
    assert _versions(client, index) == versions


def _versions(client: OpenSearch, index: str) -> dict[str, int]:
    client.indices.refresh(index=queries_index(index))
    body = {"size": 1000, "version": True}
    hits = client.search(index=queries_index(index), body=body)["hits"]["hits"]
    return {hit["_id"]: hit["_version"] for hit in hits}


def test_events_that_were_delivered_before_a_rebuild_count_no_second_time(
    client: OpenSearch, redis_client: Redis, index: str, intake: Intake, aggregates: Aggregates
) -> None:
    events = made_up(30)
    intake.take(events)
    forget_redis(redis_client, index)
    rebuild(client, redis_client, index, min_visitors=1)
    rebuilt = aggregates()
    assert intake.take(events).counted == 0
    assert aggregates() == rebuilt


def test_an_event_that_is_kept_but_not_counted_is_counted_by_the_rebuild_alone(
    client: OpenSearch, redis_client: Redis, index: str, intake: Intake, aggregates: Aggregates
) -> None:
    event = ClickEvent(event_id="e1", query="asthma", doc_id="d1", timestamp=NOW)
    write_events(client, index, [stored_event(event, received=2e9)])  # whoever did this was killed then
    rebuild(client, redis_client, index, min_visitors=1, clock=lambda: 2e9)
    rebuilt = aggregates()
    assert rebuilt["h90:queries"] == {query_id("asthma"): 1.0}
    assert Intake(client, redis_client, index, clock=lambda: 2e9).take([event]).counted == 0
    assert aggregates() == rebuilt


def test_clicks_that_come_in_during_a_rebuild_are_all_counted(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    intake: Intake,
    aggregates: Aggregates,
    past_queries: PastQueries,
) -> None:
    intake.take(made_up(60))
    forget_redis(redis_client, index)
    live = made_up(60, prefix="live")
    thread = threading.Thread(
        target=lambda: Intake(client, redis_client, index, min_visitors=1).take(live, batch=3)
    )
    thread.start()
    while thread.is_alive():
        assert rebuild(client, redis_client, index, min_visitors=1).unsettled == 0
    thread.join()
    during, during_queries = aggregates(), past_queries()
    rebuild(client, redis_client, index, min_visitors=1)
    assert during == approx(aggregates())
    assert during_queries == past_queries()


def test_what_the_log_no_longer_holds_goes(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    intake: Intake,
    aggregates: Aggregates,
    past_queries: PastQueries,
) -> None:
    intake.take(made_up(20))
    intake.take([ClickEvent(event_id="gone", query="forget me", doc_id="d1")])
    client.delete(index=events_index(index), id="gone", params={"refresh": "true"})
    assert rebuild(client, redis_client, index, min_visitors=1).removed == 1
    assert query_id("forget me") not in past_queries()
    assert not [key for key in aggregates() if query_id("forget me") in key]
    assert query_id("forget me") not in aggregates()["h90:queries"]


def test_past_queries_follow_the_encoder_of_the_index(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    space: EncoderSpace,
    intake: Intake,
    past_queries: PastQueries,
    embed_query: Callable[..., None],
) -> None:
    intake.take(made_up(10))
    queries = past_queries()
    embed_query(next(iter(queries.values()))["normalized"], [1, 0, 0])
    rebuild(client, redis_client, index, min_visitors=1)
    assert len(_with_vectors(client, index)) == 1  # same space: the vector stays
    other = query_space(replace(space, revision="2", dimension=4))
    client.indices.delete(index=queries_index(index))
    client.indices.create(index=queries_index(index), body=queries_body(other))
    rebuild(client, redis_client, index, min_visitors=1)
    assert past_queries() == queries
    assert encoder_of(client, queries_index(index)) == space
    assert _with_vectors(client, index) == []


def _with_vectors(client: OpenSearch, index: str) -> list[Any]:
    client.indices.refresh(index=queries_index(index))
    body = {"query": {"exists": {"field": "trifuse_vector"}}}
    found: list[Any] = client.search(index=queries_index(index), body=body)["hits"]["hits"]
    return found


def test_an_empty_log(client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates) -> None:
    report = rebuild(client, redis_client, index, min_visitors=1)
    assert (report.queries, report.clicks, report.removed) == (0, 0, 0)
    assert aggregates() == {}


def test_no_search_index(client: OpenSearch, redis_client: Redis, index_name: str) -> None:
    with pytest.raises(SearchIndexMissing):
        rebuild(client, redis_client, index_name)
