"""Counting in a real Redis: once, in any order, bounded, expiring, and no query public before its time."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from redis.crc import key_slot

from trifuse.ranker.clicks.records import doc_hash
from trifuse.ranker.keys import (
    AGGREGATE_LIFETIME_S,
    DAY_S,
    SEEN_LIFETIME_S,
    clicks_key,
    queries_key,
    visits_key,
)
from trifuse.worker.clicks.compaction import Compactor
from trifuse.worker.clicks.counting import Counter
from trifuse.worker.clicks.items import Item
from trifuse.worker.clicks.packing import packed

NOW = 1.75e9
Aggregates = Callable[[], dict[str, dict[str, float]]]
AggregatesOf = Callable[[str], dict[str, dict[str, float]]]


def click(
    event: str,
    query: str,
    doc: str,
    timestamp: float = NOW,
    *,
    visitor: str | None = None,
    count: int = 1,
    expected: float = 0.0,
) -> Item:
    return Item(event, query, timestamp, (doc,), (expected,), count, visitor)


def page(event: str, query: str, *docs: str, timestamp: float = NOW, visitor: str | None = None) -> Item:
    return Item(event, query, timestamp, docs, (0.5, 0.25, 0.125)[: len(docs)], 0, visitor)


@st.composite
def made_up(draw: st.DrawFn) -> Item:
    """Clicks and pages of visitors and of strangers; what one visitor repeats is at the same time."""
    query, doc = draw(st.sampled_from(["q1", "q2"])), draw(st.sampled_from(["a", "b", "c"]))
    visitor = draw(st.sampled_from([None, "v1", "v2", "v3"]))
    event = f"e{draw(st.integers(0, 30))}"
    day = draw(st.sampled_from([0, 1, 400]))
    timestamp = NOW - day * DAY_S - (0 if visitor else draw(st.integers(0, 10**6)))
    if draw(st.booleans()):
        return page(f"page:{event}", query, "a", "b", timestamp=timestamp, visitor=visitor)
    count = 1 if visitor else draw(st.integers(1, 5))
    return click(event, query, doc, timestamp, visitor=visitor, count=count, expected=0.25)


ITEMS = st.lists(made_up(), min_size=1, max_size=20, unique_by=lambda item: (item.event, item.clicks > 0))


def approx(found: dict[str, dict[str, float]]) -> dict[str, object]:
    return {key: pytest.approx(value, rel=1e-6) for key, value in found.items()}


@given(
    ITEMS.flatmap(lambda items: st.tuples(st.just(items), st.permutations(items + items[:5]))),
    st.integers(1, 6),
    st.integers(1, 4),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_split_and_repetition_gives_the_same_counts(
    redis_client: Redis,
    aggregates_of: AggregatesOf,
    orders: tuple[list[Item], list[Item]],
    size: int,
    min_visitors: int,
) -> None:
    found = []
    for items in orders:
        index = f"test-{uuid.uuid4().hex[:12]}"
        counter = Counter(redis_client, index, min_visitors=min_visitors)
        for start in range(0, len(items), size):
            counter.count(items[start : start + size])
        found.append(aggregates_of(index))
        redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000))
    assert found[0] == approx(found[1])


@given(st.permutations([(query, doc) for query in "xyz" for doc in "abcde"]), st.integers(1, 15))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_in_any_order_as_many_of_a_visitor_count_as_the_cap_allows(
    redis_client: Redis, order: list[tuple[str, str]], size: int
) -> None:
    index = f"test-{uuid.uuid4().hex[:12]}"
    counter = Counter(redis_client, index, max_a_day=7, min_visitors=1)
    clicks = [click(f"{query}{doc}", query, doc, visitor="greedy") for query, doc in order]
    found = [counter.count(clicks[start : start + size]) for start in range(0, 15, size)]
    assert sum(len(some.counted) for some in found) == 7
    assert sum(len(some.over_cap) for some in found) == 8
    again = counter.count(clicks)
    assert (again.counted, len(again.over_cap)) == ([], 8)
    redis_client.delete(*redis_client.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000))


def test_what_a_batch_says_of_itself(redis_client: Redis, index_name: str) -> None:
    counter = Counter(redis_client, index_name, min_visitors=1)
    batch = [click("e1", "q1", "a"), click("e2", "q1", "a", count=3), click("e3", "q2", "a")]
    first = counter.count(batch, pairs=True)
    assert (first.counted, first.queries, first.pairs) == ([0, 1, 2], 2, 2)
    assert first.public == {"q1": 4, "q2": 1}
    again = counter.count([*batch, click("e4", "q1", "b"), page("p", "q1", "a", "c")], pairs=True)
    assert (again.counted, again.queries, again.pairs) == ([3, 4], 0, 1)
    assert again.public == {"q1": 5, "q2": 1}
    assert counter.count([click("e5", "q1", "c")], pairs=True).pairs == 1  # it was shown, and not clicked
    assert counter.count([]).counted == []


def test_more_than_fit_one_script(redis_client: Redis, index_name: str, aggregates: Aggregates) -> None:
    clicks = [click(f"e{i}", f"q{i % 2000}", f"d{i % 7}", visitor=f"v{i}") for i in range(4500)]
    found = Counter(redis_client, index_name, min_visitors=2).count(clicks)
    assert found.counted == list(range(4500))
    assert found.queries == 2000
    assert aggregates()["h90:queries"] == {f"q{i}": 3.0 if i < 500 else 2.0 for i in range(2000)}


def test_counts_by_hand(redis_client: Redis, index_name: str, aggregates: Aggregates) -> None:
    counter = Counter(redis_client, index_name, half_life_days=10, min_visitors=1)
    counter.count([click("e1", "q", "a", expected=0.5), click("e2", "q", "a", count=3, expected=0.25)])
    counter.count(
        [click("e3", "q", "b", NOW - 10 * DAY_S), page("p", "q", "a", "c", timestamp=NOW - 20 * DAY_S)]
    )
    assert aggregates() == {
        # b's click is a half-life old; the page, of two half-lives ago, had 0.5 and 0.25 to expect
        "h10:q:q": {"a": 4.0, "a shown": 0.75 + 0.125, "b": 0.5, f"{doc_hash('c').hex()} shown": 0.0625},
        "h10:queries": {"q": 5.0},
    }


def test_a_visitors_click_counts_once_a_day(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=1)
    midnight = (NOW // DAY_S) * DAY_S
    clicks = [
        click("e1", "q", "a", midnight, visitor="v1"),
        click("e2", "q", "a", midnight + DAY_S - 1, visitor="v1"),  # again
        click("e3", "q", "a", midnight + DAY_S, visitor="v1"),  # another day
        click("e4", "q", "b", midnight, visitor="v1"),
        click("e5", "other", "a", midnight, visitor="v1"),
        click("e6", "q", "a", midnight, visitor="v2"),
        click("e7", "q", "a", midnight),  # strangers
        click("e8", "q", "a", midnight),
    ]
    assert counter.count(clicks).counted == [0, 2, 3, 4, 5, 6, 7]
    assert aggregates()["h90:queries"] == {"q": 6.0, "other": 1.0}


def test_the_first_page_that_a_visitor_sees_of_a_query_counts_once_a_day(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=1)
    found = counter.count(
        [
            page("p1", "q", "a", "b", visitor="v1"),
            page("p2", "q", "b", "a", visitor="v1"),
            page("p3", "q", "a", visitor="v2"),
            click("e1", "q", "a", visitor="v1"),
            click("e2", "q", "b", visitor="v1"),
        ]
    )
    assert found.counted == [0, 2, 3, 4]
    (shown,) = [kept for key, kept in aggregates().items() if ":q:" in key]
    assert {name: shown[name] for name in shown if name.endswith("shown")} == {
        "a shown": 1.0,
        "b shown": 0.25,
    }


def test_a_query_is_public_once_enough_visitors_clicked_for_it(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=3)
    for event, doc, visitor in (("e1", "a", "v1"), ("e2", "b", "v1"), ("e3", "c", "v1"), ("e4", "a", "v2")):
        assert counter.count([click(event, "q", doc, visitor=visitor)]).public == {}
    counter.count([page("p", "q", "a", "b", visitor="v3")])  # looked, and didn't click
    assert aggregates()["h90:few"] == {"q": 4, "q visitors": 2}
    assert counter.count([click("e5", "q", "a", visitor="v3")]).public == {"q": 5}
    found = aggregates()
    assert found["h90:queries"] == {"q": 5.0}
    assert "h90:few" not in found
    assert counter.count([click("e6", "q", "a", NOW + DAY_S, visitor="v1")]).public == {"q": 6}


def test_strangers_are_each_their_own_visitor(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=3)
    counter.count(
        [click("e1", "two", "a", count=2), click("e2", "three", "a", count=3), click("e3", "one", "a")]
    )
    counter.count([click("e4", "one", "a", visitor="v1")])
    assert aggregates()["h90:few"] == {"two": 2, "two visitors": 2, "one": 2, "one visitors": 2}
    assert aggregates()["h90:queries"] == {"three": 3.0}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"half_life_days": 0.01}, "an hour or more"),
        ({"min_visitors": 0}, "min_visitors from 1"),
        ({"max_a_day": 10_001}, "max_a_day from 1 to 10,000"),
    ],
)
def test_bounds_that_cant_be(redis_client: Redis, index_name: str, change: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Counter(redis_client, index_name, **change)


def test_c3_every_key_expires(redis_client: Redis, index_name: str) -> None:
    Counter(redis_client, index_name).count(
        [
            click("e1", "q1", "a"),
            click("e2", "q2", "b", 0.0, visitor="v1"),
            click("e3", "q3", "b", count=9),
            page("p", "shown", "a"),
        ]
    )
    ttls = {
        key: redis_client.ttl(key)
        for key in redis_client.scan_iter(match=f"trifuse:{{{index_name}}}:*", count=1000)
    }
    kinds = sorted(key.split(":h90:")[1].split(":")[0] for key in ttls)
    assert kinds == ["docs", "few", "q", "q", "q", "q", "queries", "seen", "visits"]
    for key, ttl in ttls.items():
        lifetime = SEEN_LIFETIME_S if ":seen:" in key or ":visits:" in key else AGGREGATE_LIFETIME_S
        lifetime = DAY_S if key.endswith(":q:shown") else lifetime
        assert lifetime - 60 < ttl <= lifetime, key


def test_what_was_only_shown_stays_once_it_is_clicked(redis_client: Redis, index_name: str) -> None:
    counter, key = Counter(redis_client, index_name), clicks_key(index_name, 90.0, "q")
    counter.count([page("p1", "q", "a")])
    redis_client.expire(key, 1000)
    counter.count([page("p2", "q", "a")])
    assert redis_client.ttl(key) <= 1000  # a day from the first time that it was shown
    counter.count([click("e1", "q", "a")])
    assert redis_client.ttl(key) > AGGREGATE_LIFETIME_S - 60
    redis_client.expire(key, AGGREGATE_LIFETIME_S - 2 * DAY_S)
    counter.count([page("p3", "q", "a")])
    assert redis_client.ttl(key) > AGGREGATE_LIFETIME_S - 60


def test_the_records_of_a_public_query_get_their_lifetime_once_a_day(
    redis_client: Redis, index_name: str
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=1)
    key, queries = clicks_key(index_name, 90.0, "q"), queries_key(index_name, 90.0)
    counter.count([click("e1", "q", "a")])
    clicks, day = str(redis_client.hget(queries, "q")).split()
    assert (clicks, int(day)) == ("1", pytest.approx(time.time() / DAY_S, abs=1))
    redis_client.expire(key, 1000)
    counter.count([click("e2", "q", "a"), page("p1", "q", "a")])
    assert redis_client.ttl(key) <= 1000  # it had it today
    for kept in (f"2 {int(day) - 1}", "2"):  # yesterday; a rebuild says nothing of it
        redis_client.hset(queries, "q", kept)
        redis_client.expire(key, 1000)
        assert counter.count([click(f"after {kept}", "q", "a")]).public == {"q": 3}
        assert redis_client.ttl(key) > AGGREGATE_LIFETIME_S - 60
        assert str(redis_client.hget(queries, "q")).startswith("3 ")


def test_c4_the_keys_of_a_batch_share_a_slot(redis_client: Redis, index_name: str) -> None:
    batch = packed([click(f"e{i}", f"q{i}", "a", i * DAY_S) for i in range(50)])
    seen = Counter(redis_client, index_name)._keys(batch)
    assert len(seen) == 2 + 3 * 50
    assert len({key_slot(key.encode()) for key in seen}) == 1


def test_documents_of_a_query_are_bounded_and_the_most_clicked_stay(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, max_docs=5, min_visitors=1)
    clicks = [
        click(f"{n}-{place}", "q", f"d{doc}")
        for n in range(20)
        for place, doc in enumerate([0, 1, 2, 0, 1, 2, 0, 1, 2, 3 + n, 4 + n, 5 + n])
    ]
    for start in range(0, len(clicks), 10):
        counter.count(clicks[start : start + 10])
    kept = aggregates()["h90:q:q"]
    assert {doc: kept[doc] for doc in ("d0", "d1", "d2")} == pytest.approx(
        dict.fromkeys(("d0", "d1", "d2"), 60.0)
    )
    assert redis_client.strlen(clicks_key(index_name, 90.0, "q")) <= 20 * 128


def test_a_hot_query_stays_small_and_loses_nothing(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    key = clicks_key(index_name, 90.0, "hot")
    sizes: list[int] = []

    def write(worker: int) -> None:
        counter = Counter(redis_client, index_name, min_visitors=1)
        for batch in range(20):
            counter.count([click(f"{worker}-{batch}-{n}", "hot", f"d{n % 40}", count=1) for n in range(200)])
            sizes.append(int(redis_client.strlen(key)))

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert aggregates() == {
        "h90:q:hot": pytest.approx({f"d{n}": 400.0 for n in range(40)}),
        "h90:queries": {"hot": 16_000.0},
    }
    assert max(sizes) <= 20 * 4 * 512  # each of four writers at a time adds 200 records before it compacts


def test_compaction_gives_way_to_another_and_keeps_what_came_meanwhile(
    redis_client: Redis, index_name: str, aggregates: Aggregates, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = Counter(redis_client, index_name, min_visitors=1)
    key = clicks_key(index_name, 90.0, "q")
    counter.count([click(f"e{n}", "q", "a") for n in range(63)])
    compactor = Compactor(redis_client, 90.0, 200)
    run = compactor._compact

    def late(**kwargs: Any) -> Any:
        counter.count([click("new", "q", "b")])  # which itself compacts: there are 64 records now
        return run(**kwargs)

    monkeypatch.setattr(compactor, "_compact", late)
    compactor.compact([key])
    assert aggregates()["h90:q:q"] == {"a": 63.0, "b": 1.0}
    assert redis_client.strlen(key) == 20 * 2
    counter.count([click(f"f{n}", "q", "a") for n in range(20)])
    monkeypatch.setattr(
        compactor, "_compact", lambda **kwargs: (counter.count([click("newer", "q", "b")]), run(**kwargs))
    )
    compactor.compact([key])
    assert aggregates()["h90:q:q"] == {"a": 83.0, "b": 2.0}
    assert redis_client.strlen(key) == 20 * 3


def test_queries_of_an_index_are_bounded_and_the_rarest_go(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, max_queries=2, min_visitors=2)
    counter.count([click("e1", "often", "a", count=9), click("e2", "seldom", "a", count=3)])
    counter.count([click("e3", "twice", "a", count=2)])
    counter.count([click("e4", "new-1", "a"), click("e5", "new-2", "a"), click("e6", "new-3", "a")])
    found = aggregates()
    assert found["h90:queries"] == {"often": 9.0, "seldom": 3.0}
    assert len(found["h90:few"]) == 4
    kept = {query for query in found["h90:few"] if not query.endswith("visitors")}
    assert {key for key in found if ":q:" in key} == {f"h90:q:{q}" for q in ("often", "seldom", *kept)}


def test_a_query_that_becomes_public_makes_no_room_for_others(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, max_queries=1, min_visitors=2)
    counter.count([click("e1", "q1", "a", visitor="v1")])
    counter.count(
        [click("e2", "q1", "a", visitor="v2"), click("e3", "q2", "a", count=1), click("e4", "q3", "a")]
    )
    found = aggregates()
    assert (found["h90:queries"], found["h90:q:q1"]) == ({"q1": 2.0}, {"a": 2.0})
    assert len(found["h90:few"]) == 2  # one of the others, and its visitors


def test_marking_keeps_events_from_being_counted(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, max_a_day=2)
    clicks = [click(f"e{n}", "q", f"d{n}", visitor="v") for n in range(3)] + [click("s", "q", "a")]
    counter.mark(clicks)
    assert redis_client.ttl(visits_key(index_name, 90.0, NOW)) > 0
    assert counter.count(clicks).counted == []
    assert aggregates() == {}
    assert counter.count([click("e9", "q", "d9", visitor="v")]).over_cap == [0]
