"""Events in: kept once, counted once, whatever is wrong with them and whatever fails on the way."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.errors import ServerUnavailable
from trifuse.ranker.past_queries import normalize_query, queries_index, query_id
from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import ClickStoreDown, SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.rebuild import rebuild

NOW = 1.75e9
DAY = 86_400.0
YEAR = 365 * DAY
Aggregates = Callable[[], dict[str, dict[str, float]]]
PastQueries = Callable[[], dict[str, dict[str, Any]]]


def click(event_id: str | None = None, **change: Any) -> ClickEvent:
    return ClickEvent(**({"query": "asthma", "doc_id": "d1", "event_id": event_id} | change))


def made_up(number: int, seed: int = 7) -> list[ClickEvent]:
    """Clicks of a few queries in several spellings, over two years."""
    draw = random.Random(seed)
    return [
        click(
            f"e{i}",
            query=draw.choice(["asthma", "Asthma ", "ASTHMA?", "copd", "Copd", "heart failure", f"rare {i}"]),
            doc_id=f"d{draw.randrange(10)}",
            timestamp=round(NOW - draw.random() * 2 * YEAR, 3),
            count=draw.choice([1, 1, 1, 4]),
        )
        for i in range(number)
    ]


@pytest.mark.parametrize("pattern", ["{}*", "{},{}", "_all", ""])
def test_clicks_belong_to_one_name(
    client: OpenSearch, redis_client: Redis, index: str, intake: Intake, pattern: str
) -> None:
    """By a pattern a rebuild would find past queries of several indexes, and delete them."""
    intake.take([click("e1")])
    name = pattern.format(index, index)
    with pytest.raises(SearchIndexMissing, match="one index or alias"):
        Intake(client, redis_client, name)
    with pytest.raises(SearchIndexMissing, match="one index or alias"):
        rebuild(client, redis_client, name)
    assert client.indices.exists(index=queries_index(index))


def test_ids_that_two_indexes_of_an_alias_share(
    client: OpenSearch, redis_client: Redis, index_name: str
) -> None:
    for part in ("-1", "-2"):
        client.indices.create(index=index_name + part, body={"aliases": {index_name: {}}})
        for n in range(10):
            client.index(index=index_name + part, id=f"d{n}", body={})
    client.indices.refresh(index=index_name)
    report = Intake(client, redis_client, index_name).take(
        [click(f"e{n}", doc_id=f"d{n}") for n in range(12)]
    )
    assert (report.counted, dict(report.rejected)) == (10, {checks.UNKNOWN_DOCUMENT: 2})


def approx(found: dict[str, dict[str, float]]) -> dict[str, object]:
    return {key: pytest.approx(value, abs=1e-8) for key, value in found.items()}


def test_c5_every_odd_event_is_rejected_with_a_reason_or_accepted_once(
    client: OpenSearch, redis_client: Redis, index: str, past_queries: PastQueries
) -> None:
    intake = Intake(client, redis_client, index, clock=lambda: NOW)
    report = intake.take(
        [
            click("good"),
            click("good"),  # duplicate event
            click("no-query-id", query_id=None, position=None),  # accepted: neither is needed
            click("no-impression", query_id="q-never-shown"),  # its impression is missing: accepted
            click("unknown-document", doc_id="d99"),
            click("ahead", timestamp=NOW + 3 * YEAR),
            click("long", query="x" * 10_240),
            click("null", query=None),
            click("null-2", query=None, query_id="q-unknown"),
            click("no-doc", doc_id=None),
            click("surrogate", query="half \ud800"),
            Fault(checks.NOT_AN_EVENT),
            Fault(None),
        ]
    )
    assert report.as_dict() == {
        "read": 12,
        "counted": 3,
        "rejected": {
            checks.DUPLICATE: 1,
            checks.UNKNOWN_DOCUMENT: 1,
            checks.IN_THE_FUTURE: 1,
            checks.QUERY_TOO_LONG: 1,
            checks.NO_QUERY: 1,
            checks.UNKNOWN_QUERY_ID: 1,
            checks.NO_DOCUMENT: 1,
            checks.UNREADABLE: 1,
            checks.NOT_AN_EVENT: 1,
        },
        "queries": 1,
        "pairs": 1,
        "impressions": 0,
        "ignored": 1,
    }
    assert past_queries() == {
        query_id("asthma"): {
            "text": "asthma",
            "normalized": "asthma",
            "frequency": 3,
            "last_seen": int(NOW * 1000),
        }
    }


def test_loading_again_counts_nothing_twice(
    intake: Intake, aggregates: Aggregates, past_queries: PastQueries
) -> None:
    events = [click(timestamp=NOW + i) for i in range(5)]  # no ids of their own
    assert intake.take(events).counted == 5
    before = aggregates(), past_queries()
    again = intake.take(events, batch=2)
    assert (again.counted, again.rejected, again.queries, again.pairs) == (0, {checks.DUPLICATE: 5}, 0, 0)
    assert (aggregates(), past_queries()) == before


def test_any_batches_give_the_same(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], index_name: str
) -> None:
    events = made_up(60)
    found = []
    for name, order, batch in ((f"{index_name}-1", events, 500), (f"{index_name}-2", events[::-1], 7)):
        make_index(name=name)
        report = Intake(client, redis_client, name, clock=lambda: NOW).take(order, batch=batch)
        assert report.counted == 60
        keys = [k for k in redis_client.scan_iter(match=f"trifuse:{{{name}}}:*") if ":seen:" not in k]
        client.indices.refresh(index=queries_index(name))
        hits = client.search(index=queries_index(name), body={"size": 100})["hits"]["hits"]
        counts = {k.replace(name, ""): dict(redis_client.zrange(k, 0, -1, withscores=True)) for k in keys}
        found.append((counts, {hit["_id"]: hit["_source"] for hit in hits}))
        redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{name}}}:*"))
        client.indices.delete(index=f"{queries_index(name)},{events_index(name)}")
    assert found[0][0] == approx(found[1][0])
    assert found[0][1] == found[1][1]


class Unreliable:
    """A click store that goes away when a script is called."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.down = True

    def register_script(self, script: str) -> Callable[..., Any]:
        made = self._redis.register_script(script)

        def call(*, keys: list[str], args: list[Any]) -> Any:
            if self.down:
                raise ConnectionError("gone")
            return made(keys=keys, args=args)

        return call


def test_c1_a_crash_between_the_event_index_and_redis_counts_once(
    client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates, past_queries: PastQueries
) -> None:
    store = Unreliable(redis_client)
    intake = Intake(client, store, index, clock=lambda: NOW)
    with pytest.raises(ClickStoreDown, match=f"clicks rebuild --index {index}"):
        intake.take([click("e1", timestamp=NOW - DAY), click("e2", doc_id="d2")])
    assert aggregates() == {}
    store.down = False
    # delivered again, by a sender who lost the time meanwhile: what was kept is what counts
    report = intake.take([click("e1", timestamp=NOW - DAY), click("e2", doc_id="d2", timestamp=NOW - DAY)])
    assert (report.counted, report.rejected) == (2, {})
    assert intake.take([click("e1"), click("e2")]).counted == 0
    key = f"trifuse:{{{index}}}:h90:q:{query_id('asthma')}"
    per_day = 1 / 90
    assert aggregates()[key] == pytest.approx({"d1": (NOW / DAY - 1) * per_day, "d2": NOW / DAY * per_day})
    assert past_queries()[query_id("asthma")]["frequency"] == 2


def test_an_event_kept_longer_ago_than_its_mark_lives_is_a_duplicate(
    client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates
) -> None:
    Intake(client, redis_client, index, clock=lambda: NOW).take([click("e1", timestamp=NOW)])
    before = aggregates()
    redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{index}}}:*:seen:*"))
    later = Intake(client, redis_client, index, clock=lambda: NOW + 9 * DAY)
    assert later.take([click("e1", timestamp=NOW)]).rejected == {checks.DUPLICATE: 1}
    assert aggregates() == before


def test_impressions_and_positions_are_kept(client: OpenSearch, index: str, intake: Intake) -> None:
    page = click(None, kind="impression", doc_id=None, query_id="q1", shown=("d3", "d1"), timestamp=NOW)
    report = intake.take([page, click("e1", query_id="q1", position=2, timestamp=NOW, session="s", user="u")])
    assert (report.read, report.counted, report.impressions) == (1, 1, 1)
    kept = client.mget(index=events_index(index), body={"ids": ["query:q1", "e1"]})["docs"]
    received = kept[0]["_source"]["received"]
    asthma = {"query": "asthma", "query_key": query_id("asthma"), "query_id": "q1"}
    times = {"timestamp": int(NOW * 1000), "received": received}
    assert kept[0]["_source"] == {
        "event_id": "query:q1",
        "kind": "impression",
        "shown": ["d3", "d1"],
        **asthma,
        **times,
    }
    assert kept[1]["_source"] == {
        "event_id": "e1",
        "kind": "click",
        "doc_id": "d1",
        "position": 2,
        "session": "s",
        "user": "u",
        **asthma,
        **times,
    }


def test_a_click_that_knows_only_its_search_gets_the_query_of_its_impression(
    intake: Intake, past_queries: PastQueries
) -> None:
    page = click(None, kind="impression", query="Heart failure?", doc_id=None, query_id="q1", shown=("d1",))
    intake.take([page])
    report = intake.take([click("e1", query=None, query_id="q1")])
    assert (report.counted, report.rejected) == (1, {})
    assert [query["normalized"] for query in past_queries().values()] == ["heart failure"]


def test_a_log_is_taken_in_batches_as_it_comes(intake: Intake) -> None:

    def events() -> Iterator[ClickEvent]:
        for i in range(3000):
            yield click(f"e{i}", query=f"query {i % 50}", doc_id=f"d{i % 10}")

    sizes: list[int] = []
    report = intake.take(events(), batch=250, progress=lambda so_far: sizes.append(so_far.counted))
    assert (report.counted, report.queries, report.pairs) == (3000, 50, 50)
    assert sizes == [250 * i for i in range(1, 13)]


def test_past_queries_wait_for_vectors_in_the_space_of_the_index(
    client: OpenSearch, redis_client: Redis, index: str, space: EncoderSpace
) -> None:
    hints: list[tuple[Any, ...]] = []
    intake = Intake(client, redis_client, index, enqueue=lambda *hint: hints.append(hint))
    intake.take([click("e1"), click("e2", query="copd")])
    ((name, field, found, ids),) = hints
    assert (name, field, found.encoder, found.template.role) == (
        queries_index(index),
        "trifuse_vector",
        space,
        "query",
    )
    assert sorted(ids) == sorted((query_id(normalize_query(q)), None) for q in ("asthma", "copd"))
    hints.clear()
    intake.take([click("e3")])  # the text is as it was
    assert hints == []


def test_an_index_without_vectors_has_past_queries_without_vectors(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], past_queries: PastQueries
) -> None:
    index = make_index(None)
    assert Intake(client, redis_client, index).take([click("e1")]).counted == 1
    assert len(past_queries()) == 1


def test_past_queries_that_are_being_made_anew_are_no_reason_to_make_them_wrongly(
    client: OpenSearch, index: str, intake: Intake
) -> None:
    client.indices.delete(index=queries_index(index))
    with pytest.raises(ServerUnavailable, match="try again"):
        intake.take([click("e1")])
    assert not client.indices.exists(index=queries_index(index))


def test_no_search_index(client: OpenSearch, redis_client: Redis, index_name: str) -> None:
    with pytest.raises(SearchIndexMissing, match="load it first"):
        Intake(client, redis_client, index_name)
    assert not client.indices.exists(index=events_index(index_name))


def test_an_alias_is_a_search_index_too(client: OpenSearch, redis_client: Redis, index: str) -> None:
    alias = f"{index}-alias"
    client.indices.put_alias(index=index, name=alias)
    assert Intake(client, redis_client, alias).take([click("e1")]).counted == 1
    assert client.indices.exists(index=events_index(alias))
    client.indices.delete(index=f"{events_index(alias)},{queries_index(alias)}")
    redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{alias}}}:*"))
