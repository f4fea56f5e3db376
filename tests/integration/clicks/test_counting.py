"""Counting in a real Redis: once, in any order, bounded, expiring."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis import Redis
from redis.crc import key_slot

from trifuse.ranker.keys import AGGREGATE_LIFETIME_S, DAY_S, SEEN_LIFETIME_S
from trifuse.worker.clicks.counting import Click, Counter

NOW = 1.75e9
Aggregates = Callable[[], dict[str, dict[str, float]]]

CLICKS = st.lists(
    st.builds(
        Click,
        event=st.sampled_from([f"e{i}" for i in range(30)]),
        query=st.sampled_from(["q1", "q2"]),
        doc=st.sampled_from(["a", "b", "c"]),
        timestamp=st.floats(NOW - 1000 * DAY_S, NOW),
        count=st.integers(1, 5),
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda click: click.event,
)


def approx(found: dict[str, dict[str, float]]) -> dict[str, object]:
    # a score is log2 of a count: 1e-8 of it is 1e-8 of the count, nearly
    return {key: pytest.approx(value, abs=1e-8) for key, value in found.items()}


@given(
    CLICKS.flatmap(lambda clicks: st.tuples(st.just(clicks), st.permutations(clicks + clicks[:3]))),
    st.integers(1, 5),
)
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_order_split_and_repetition_gives_the_same_counts(
    redis_client: Redis, orders: tuple[list[Click], list[Click]], size: int
) -> None:
    found = []
    for clicks in orders:
        index = f"test-{uuid.uuid4().hex[:12]}"
        counter = Counter(redis_client, index)
        for start in range(0, len(clicks), size):
            counter.count(clicks[start : start + size])
        keys = list(redis_client.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000))
        found.append(
            {
                key.replace(index, ""): dict(redis_client.zrange(key, 0, -1, withscores=True))
                for key in keys
                if ":seen:" not in key
            }
        )
        redis_client.delete(*keys)
    assert found[0] == approx(found[1])


def test_what_a_batch_says_of_itself(redis_client: Redis, index_name: str) -> None:
    counter = Counter(redis_client, index_name)
    batch = [Click("e1", "q1", "a", NOW), Click("e2", "q1", "a", NOW, 3), Click("e3", "q2", "a", NOW)]
    first = counter.count(batch)
    assert (first.positions, first.queries, first.pairs) == (frozenset({0, 1, 2}), 2, 2)
    assert first.totals == {"q1": 4, "q2": 1}
    again = counter.count([*batch, Click("e4", "q1", "b", NOW)])
    assert (again.positions, again.queries, again.pairs) == (frozenset({3}), 0, 1)
    assert again.totals == {"q1": 5, "q2": 1}
    assert counter.count([]).positions == frozenset()


def test_counts_by_hand(redis_client: Redis, index_name: str, aggregates: Aggregates) -> None:
    counter = Counter(redis_client, index_name, half_life_days=10)
    tenth = 1000 * DAY_S  # 100 half-lives after 1970
    counter.count(
        [Click("e1", "q", "a", tenth), Click("e2", "q", "a", tenth), Click("e3", "q", "a", tenth, 2)]
    )
    counter.count([Click("e4", "q", "b", tenth - 10 * DAY_S)])
    assert aggregates() == {
        counter.clicks_key("q"): {"a": 102.0, "b": 99.0},  # 2^102 = 4 clicks of weight 2^100
        f"trifuse:{{{index_name}}}:h10:queries": {"q": 5.0},
    }


def test_a_half_life_that_is_too_short_to_be_kept_exactly(redis_client: Redis, index_name: str) -> None:
    with pytest.raises(ValueError, match="an hour or more"):
        Counter(redis_client, index_name, half_life_days=0.01)


def test_c3_every_key_expires(redis_client: Redis, index_name: str) -> None:
    Counter(redis_client, index_name).count([Click("e1", "q1", "a", NOW), Click("e2", "q2", "b", 0.0)])
    ttls = {
        key: redis_client.ttl(key)
        for key in redis_client.scan_iter(match=f"trifuse:{{{index_name}}}:*", count=1000)
    }
    assert len(ttls) == 5
    for key, ttl in ttls.items():
        lifetime = SEEN_LIFETIME_S if ":seen:" in key else AGGREGATE_LIFETIME_S
        assert lifetime - 60 < ttl <= lifetime, key


def test_c4_the_keys_of_a_batch_share_a_slot(redis_client: Redis, index_name: str) -> None:
    keys: list[str] = []

    class Recording:
        def __call__(self, keys: list[str], args: list[object]) -> list[object]:
            seen.extend(keys)
            return [[], 0, 0, [], []]

    seen: list[str] = keys
    counter = Counter(redis_client, index_name)
    counter._count = Recording()  # type: ignore[assignment]
    counter.count([Click(f"e{i}", f"q{i}", "a", i * DAY_S) for i in range(50)])
    assert len(seen) == 101
    assert len({key_slot(key.encode()) for key in seen}) == 1


def test_documents_of_a_query_are_bounded_and_the_most_clicked_stay(
    redis_client: Redis, index_name: str
) -> None:
    counter = Counter(redis_client, index_name, max_docs=5)
    clicks = [Click(f"{doc}-{n}", "q", f"d{doc:02}", NOW) for doc in range(20) for n in range(1 + doc)]
    for start in range(0, len(clicks), 10):
        counter.count(clicks[start : start + 10])
    kept = redis_client.zrevrange(counter.clicks_key("q"), 0, -1)
    assert len(kept) <= 10
    assert kept[:5] == ["d19", "d18", "d17", "d16", "d15"]


def test_queries_of_an_index_are_bounded_and_the_rarest_go(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name, max_queries=2)
    counter.count([Click("e1", "often", "a", NOW, 9), Click("e2", "seldom", "a", NOW, 2)])
    counter.count([Click("e3", "once", "a", NOW)])
    assert set(aggregates()) == {
        counter.clicks_key("often"),
        counter.clicks_key("seldom"),
        f"trifuse:{{{index_name}}}:h90:queries",
    }


def test_a_replacement_gives_way_to_a_click_that_came_since(
    redis_client: Redis, index_name: str, aggregates: Aggregates
) -> None:
    counter = Counter(redis_client, index_name)
    assert counter.replace("q", {"a": 1.0}, 1, was=None)
    counter.count([Click("e1", "q", "a", NOW)])
    before = aggregates()
    assert not counter.replace("q", {"b": 1.0}, 7, was=1.0)
    assert aggregates() == before
    assert counter.replace("q", {"b": 1.0}, 7, was=2.0)
    assert aggregates() == {
        counter.clicks_key("q"): {"b": 1.0},
        f"trifuse:{{{index_name}}}:h90:queries": {"q": 7.0},
    }


def test_a_replacement_keeps_the_most_clicked(redis_client: Redis, index_name: str) -> None:
    counter = Counter(redis_client, index_name, max_docs=600)
    assert counter.replace("q", {f"d{i:04}": float(i) for i in range(2000)}, 2000, was=None)
    kept = redis_client.zrange(counter.clicks_key("q"), 0, -1)
    assert (len(kept), kept[0], kept[-1]) == (600, "d1400", "d1999")
