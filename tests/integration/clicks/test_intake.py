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
from trifuse.ranker.clicks.past_queries import normalize_query, queries_index, query_id
from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.errors import ClickStoreDown, SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.forgotten import FORGOTTEN, forgotten_body, forgotten_index, remember
from trifuse.worker.clicks.indexes import ensure, ensure_log, events_index
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.placed import Placed
from trifuse.worker.clicks.positions import save_curve
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.clicks.store import visit_of

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
    return {key: pytest.approx(value, rel=1e-6) for key, value in found.items()}


def test_c5_every_odd_event_is_rejected_with_a_reason_or_accepted_once(
    client: OpenSearch, redis_client: Redis, index: str, past_queries: PastQueries
) -> None:
    intake = Intake(client, redis_client, index, min_visitors=1, clock=lambda: NOW)
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
            click("surrogate-2", query=None, query_id="half \ud800"),
            Fault(checks.NOT_AN_EVENT),
            Fault(None),
        ]
    )
    assert report.as_dict() == {
        "read": 13,
        "counted": 3,
        "rejected": {
            checks.DUPLICATE: 1,
            checks.UNKNOWN_DOCUMENT: 1,
            checks.IN_THE_FUTURE: 1,
            checks.QUERY_TOO_LONG: 1,
            checks.NO_QUERY: 1,
            checks.UNKNOWN_QUERY_ID: 1,
            checks.NO_DOCUMENT: 1,
            checks.UNREADABLE: 2,
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
            "segment": "TAIL",
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


@pytest.mark.parametrize("min_visitors", [1, 3])
def test_any_batches_give_the_same(
    client: OpenSearch,
    redis_client: Redis,
    make_index: Callable[..., str],
    index_name: str,
    aggregates_of: Callable[[str], dict[str, dict[str, float]]],
    min_visitors: int,
) -> None:
    """Also the text of a query that became public after its first spellings."""
    events = made_up(60)
    found = []
    for name, order, batch in ((f"{index_name}-1", events, 500), (f"{index_name}-2", events[::-1], 7)):
        make_index(name=name)
        intake = Intake(client, redis_client, name, min_visitors=min_visitors, clock=lambda: NOW)
        assert intake.take(order, batch=batch).counted == 60
        client.indices.refresh(index=queries_index(name))
        hits = client.search(index=queries_index(name), body={"size": 100})["hits"]["hits"]
        found.append((aggregates_of(name), {hit["_id"]: hit["_source"] for hit in hits}))
        redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{name}}}:*"))
        client.indices.delete(index=f"{queries_index(name)},{events_index(name)}")
    assert found[0][0] == approx(found[1][0])
    assert found[0][1] == found[1][1]
    assert set(found[0][1]) == set(found[0][0]["h90:queries"])


class Unreliable:
    """A click store that goes away when a script is called."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self.down = True

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if self.down:
            raise ConnectionError("gone")
        return self._redis.execute_command(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._redis, name)


def test_c1_a_crash_between_the_event_index_and_redis_counts_once(
    client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates, past_queries: PastQueries
) -> None:
    store = Unreliable(redis_client)
    intake = Intake(client, store, index, min_visitors=1, clock=lambda: NOW)
    with pytest.raises(ClickStoreDown, match=f"clicks rebuild --index {index}"):
        intake.take([click("e1", timestamp=NOW - DAY), click("e2", doc_id="d2")])
    assert aggregates() == {}
    store.down = False
    # delivered again, by a sender who lost the time meanwhile: what was kept is what counts
    report = intake.take([click("e1", timestamp=NOW - DAY), click("e2", doc_id="d2", timestamp=NOW - DAY)])
    assert (report.counted, report.rejected) == (2, {})
    assert intake.take([click("e1"), click("e2")]).counted == 0
    # e1 is a day old: 2^(-1/90)
    assert aggregates()[f"h90:q:{query_id('asthma')}"] == pytest.approx({"d1": 0.992327946, "d2": 1.0})
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
        "visit": visit_of("u", NOW),
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
    intake = Intake(client, redis_client, index, min_visitors=1, enqueue=lambda *hint: hints.append(hint))
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
    assert Intake(client, redis_client, index, min_visitors=1).take([click("e1")]).counted == 1
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


def seen_by(visitor: str, event_id: str, **change: Any) -> ClickEvent:
    return click(event_id, session=visitor, timestamp=NOW, **change)


def test_a_query_is_found_by_others_once_enough_visitors_made_it(
    client: OpenSearch, redis_client: Redis, index: str, past_queries: PastQueries
) -> None:
    hints: list[tuple[Any, ...]] = []
    intake = Intake(client, redis_client, index, enqueue=lambda *hint: hints.append(hint), clock=lambda: NOW)
    own = "my very own illness"
    intake.take([seen_by("v1", "e1", query=own.upper())])
    intake.take([seen_by("v1", f"f{n}", query=own, doc_id=f"d{n}") for n in (2, 3, 4, 5)])
    intake.take([seen_by("v2", "g", query=own)])
    assert past_queries() == {}
    assert hints == []
    assert not any("illness" in key for key in redis_client.scan_iter(match=f"trifuse:{{{index}}}:*"))
    intake.take([seen_by("v3", "h", query=own.title())])
    assert past_queries() == {
        query_id(own): {
            "text": own,  # by the second event
            "normalized": own,
            "frequency": 7,
            "segment": "TORSO",
            "last_seen": int(NOW * 1000),
        }
    }
    assert [ids for *_, ids in hints] == [[(query_id(own), None)]]


def test_a_crash_before_a_public_query_was_written_is_made_good_by_the_redelivery(
    client: OpenSearch,
    redis_client: Redis,
    index: str,
    past_queries: PastQueries,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def crash(*_: Any, **__: Any) -> list[str]:
        raise ServerUnavailable("killed here")

    intake = Intake(client, redis_client, index, clock=lambda: NOW)
    intake.take([seen_by("v1", "e1", query="Asthma"), seen_by("v2", "e2")])
    with monkeypatch.context() as patched:
        patched.setattr("trifuse.worker.clicks.intake.write_past_queries", crash)
        with pytest.raises(ServerUnavailable):
            intake.take([seen_by("v3", "e3", query="asthma!")])
    assert past_queries() == {}
    report = intake.take([seen_by("v3", "e3", query="asthma!")])
    assert (report.counted, report.rejected) == (0, {checks.DUPLICATE: 1})
    (query,) = past_queries().values()
    assert (query["text"], query["frequency"]) == ("asthma!", 3)


def test_a_visitors_repetitions_are_rejected_with_a_reason(
    client: OpenSearch, redis_client: Redis, index: str
) -> None:
    intake = Intake(client, redis_client, index, max_a_day=4, clock=lambda: NOW)
    events = [
        *(seen_by("v1", f"e{n}", doc_id=f"d{n}") for n in range(6)),  # two over the cap
        seen_by("v2", "f1"),
        seen_by("v2", "f2", position=3),  # the same again
        seen_by("v2", "f3", count=50),  # and again
        seen_by("v2", "f4", kind="impression", doc_id=None, shown=("d1",)),
    ]
    told: list[tuple[Any, str]] = []
    report = intake.take([*events, Fault(None)], on_reject=lambda taken, reason: told.append((taken, reason)))
    assert (report.read, report.counted, report.impressions, report.ignored) == (9, 5, 1, 1)
    assert report.rejected == {checks.OVER_CAP: 2, checks.REPEATED: 2}
    assert sorted((taken.event_id, reason) for taken, reason in told) == [
        ("e4", checks.OVER_CAP),
        ("e5", checks.OVER_CAP),
        ("f2", checks.REPEATED),
        ("f3", checks.REPEATED),
    ]
    again = intake.take(events)
    assert (again.read, again.rejected) == (10, {checks.DUPLICATE: 10})
    client.indices.refresh(index=events_index(index))
    assert client.count(index=events_index(index))["count"] == 10  # all of them are kept


def test_what_stands_at_a_place_is_told_as_it_came(intake: Intake) -> None:
    placed = [
        Placed(click("e1"), "log:1"),
        Placed(click("e2", doc_id="d99"), "log:2"),
        Placed(Fault(checks.NOT_AN_EVENT), "log:3"),
        Placed(Fault(None), "log:4"),
        Placed(click("e1"), "log:5"),
    ]
    told: list[tuple[Any, str]] = []
    report = intake.take(placed, on_reject=lambda taken, reason: told.append((taken, reason)))
    assert (report.counted, report.ignored, report.rejected[checks.DUPLICATE]) == (1, 1, 1)
    # documents are looked up once for the batch, after what can be seen at a glance
    assert told == [(placed[2], checks.NOT_AN_EVENT), (placed[1], checks.UNKNOWN_DOCUMENT)]


def test_what_was_forgotten_isnt_taken_again(client: OpenSearch, index: str, intake: Intake) -> None:
    ensure(client, forgotten_index(index), forgotten_body())
    remember(client, index, events=["e1"], queries=[], documents=[], at=NOW)
    client.indices.refresh(index=forgotten_index(index))
    report = intake.take([click("e1"), click("e2")])
    assert (report.counted, report.rejected) == (1, {FORGOTTEN: 1})


def test_pages_are_what_is_expected_of_a_click(
    client: OpenSearch, redis_client: Redis, index: str, aggregates: Aggregates
) -> None:
    ensure_log(client, index)
    save_curve(client, index, [0.5, 0.25])
    intake = Intake(client, redis_client, index, min_visitors=1, clock=lambda: NOW)
    when = {"timestamp": NOW}
    intake.take(
        [
            # a search with its impression: the click adds nothing to it
            click(None, kind="impression", doc_id=None, query_id="s1", shown=("d1", "d2", "d3"), **when),
            click("e1", doc_id="d2", query_id="s1", position=2, **when),
            # a click with the page that it was made on; another of the same page, by the same visitor
            click("e2", doc_id="d1", shown=("d1", "d2"), session="v", **when),
            click("e3", doc_id="d2", shown=("d1", "d2"), session="v", **when),
            # a click that knows its position alone, one that knows nothing, one below the curve
            click("e4", doc_id="d4", position=2, **when),
            click("e5", doc_id="d5", **when),
            click("e6", doc_id="d6", position=3, **when),
        ]
    )
    assert aggregates()[f"h90:q:{query_id('asthma')}"] == {
        "d1": 1.0,
        "d1 shown": 1.0,
        "d2": 2.0,
        "d2 shown": 0.5,
        "d4": 1.0,
        "d4 shown": 0.25,
        "d5": 1.0,
        "d6": 1.0,
    }
