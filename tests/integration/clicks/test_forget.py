"""Forgetting: afterwards everything is as if the events had never been; ended at any moment, run again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import queries_index, query_id
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key, docs_key, few_key, queries_key
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.errors import NothingSelected
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.forget import ForgetReport, forget, preview
from trifuse.worker.clicks.forgotten import FORGOTTEN, touched
from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.clicks.selection import Selection

DAY = 86_400.0
NOON = (time.time() // DAY - 3) * DAY + DAY / 2


def click(query: str, doc: str, session: str | None, *, day: int = 0, **more: Any) -> ClickEvent:
    return ClickEvent(query=query, doc_id=doc, session=session, timestamp=NOON + day * DAY, **more)


SPY = [
    click("asthma", "d1", "spy", position=1),
    click("Secret name", "d9", "spy"),  # nobody else looks for it, or clicks on d9
    click("asthma", "d2", "spy", day=1, query_id="search-1"),
]
SPYS_PAGE = ClickEvent(
    query="asthma", kind="impression", query_id="search-1", timestamp=NOON + DAY, shown=("d1", "d2")
)
OTHERS = [
    click("asthma", "d1", "s1", position=2),
    click("ASTHMA", "d1", "s2"),
    click("asthma", "d2", "s3"),
    click("copd", "d3", "s1"),
    click("copd", "d3", "s2"),
    click("asthma", "d4", None, count=3),
    ClickEvent(query="asthma", kind="impression", query_id="search-2", timestamp=NOON, shown=("d2", "d4")),
]


@pytest.fixture
def take(client: OpenSearch, redis_client: Redis) -> Callable[..., Any]:
    """Takes events into an index; every query is public."""

    def take(index: str, events: Iterable[ClickEvent]) -> Any:
        return Intake(client, redis_client, index, min_visitors=1).take(events)

    return take


@pytest.fixture
def run(client: OpenSearch, redis_client: Redis) -> Callable[..., ForgetReport]:
    """Forgets."""

    def run(index: str, **conditions: Any) -> ForgetReport:
        return forget(client, redis_client, index, Selection(**conditions), min_visitors=1)

    return run


@pytest.fixture
def state(client: OpenSearch, redis_client: Redis) -> Callable[[str], dict[str, Any]]:
    """All that is kept of an index's clicks, as far as it doesn't depend on the index's name or on time."""

    def state(index: str) -> dict[str, Any]:
        of = (index, HALF_LIFE_DAYS)
        public = redis_client.hgetall(queries_key(*of))
        prefix = clicks_key(*of, "")
        counted = sorted(key.removeprefix(prefix) for key in redis_client.scan_iter(f"{prefix}*"))
        sums = merged(read_strings(redis_client, [prefix + key for key in counted]), NOON, HALF_LIFE_DAYS)
        columns = (sums.query, sums.doc, sums.clicks, sums.expected)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        names = redis_client.hvals(docs_key(*of))
        client.indices.refresh(index=f"trifuse-*-{index}")
        body = {"size": 1000, "_source": {"excludes": [VECTOR_FIELD, "trifuse"]}}
        past = client.search(index=queries_index(index), body=body)["hits"]["hits"]
        events = client.search(index=events_index(index), body={"size": 1000})["hits"]["hits"]
        return {
            "public": {query: clicks_counted(kept) for query, kept in public.items()},
            "few": redis_client.hlen(few_key(*of)),
            "clicks": {
                (counted[query], sums.docs[doc].tobytes()): (round(clicks, 4), round(expected, 4))
                for query, doc, clicks, expected in rows
            },
            "names": sorted(names),
            "past": {hit["_id"]: hit["_source"] for hit in past},
            "events": {hit["_id"]: {**hit["_source"], "received": 0} for hit in events},
        }

    return state


def marks(redis: Redis, index: str) -> int:
    """How many marks of counted events and of visitors' days there are."""
    return sum(
        redis.scard(key) if ":seen:" in key else redis.hlen(key)
        for what in ("seen", "visits")
        for key in redis.scan_iter(f"trifuse:{{{index}}}:*:{what}:*")
    )


def test_a_session_is_forgotten_as_if_it_had_never_been(
    index: str, redis_client: Redis, take: Any, run: Any, state: Any
) -> None:
    take(index, OTHERS)
    before, marked = state(index), marks(redis_client, index)
    take(index, [*SPY, SPYS_PAGE])
    assert state(index) != before
    assert run(index, sessions=("spy",)) == ForgetReport(events=4, queries=2, rebuilt=1, removed=1)
    assert state(index) == before
    assert marks(redis_client, index) == marked
    assert run(index, sessions=("spy",)) == ForgetReport()


def test_a_query_is_forgotten_in_all_its_spellings(
    index: str, client: OpenSearch, redis_client: Redis, take: Any, run: Any, state: Any
) -> None:
    take(index, OTHERS)
    assert run(index, queries=(" asthma?",)) == ForgetReport(events=5, queries=1, removed=1)
    asthma, copd = query_id("asthma"), query_id("copd")
    after = state(index)
    assert after["public"] == {copd: 2.0}
    assert {query for query, _ in after["clicks"]} == {copd}
    assert list(after["past"]) == [copd]
    assert after["names"] == ["d3"]
    assert {event["query_key"] for event in after["events"].values()} == {copd}
    assert redis_client.exists(clicks_key(index, HALF_LIFE_DAYS, asthma)) == 0
    assert not client.exists(index=queries_index(index), id=asthma)


def test_what_is_older_than_a_date(index: str, take: Any, run: Any, state: Any) -> None:
    take(index, [click("asthma", "d1", "s1", day=-1), *OTHERS[3:5], click("asthma", "d2", "s1", day=1)])
    assert run(index, before=NOON + 1, sessions=("s1",)) == ForgetReport(events=2, queries=2, rebuilt=2)
    assert state(index)["public"] == {query_id("asthma"): 1.0, query_id("copd"): 1.0}
    assert run(index, before=NOON + 2 * DAY) == ForgetReport(events=2, queries=2, removed=2)
    empty = {"public": {}, "few": 0, "clicks": {}, "names": [], "past": {}, "events": {}}
    assert state(index) == empty


def test_queries_that_were_not_public_are_forgotten_too(
    index: str, client: OpenSearch, redis_client: Redis
) -> None:
    Intake(client, redis_client, index, min_visitors=3).take(
        [click("asthma", "d1", f"s{n}") for n in range(2)]
    )
    assert redis_client.hlen(few_key(index, HALF_LIFE_DAYS)) == 1
    done = forget(client, redis_client, index, Selection(queries=("asthma",)), min_visitors=3)
    assert done == ForgetReport(events=2, queries=1, removed=1)
    assert not list(redis_client.scan_iter(f"trifuse:{{{index}}}:h*:q:*"))
    assert redis_client.hlen(few_key(index, HALF_LIFE_DAYS)) == 0


def test_a_query_that_too_few_visitors_are_left_of_is_public_no_more(
    index: str, client: OpenSearch, redis_client: Redis, past_queries: Any
) -> None:
    Intake(client, redis_client, index, min_visitors=3).take(
        [click("asthma", "d1", f"s{n}") for n in range(3)]
    )
    assert len(past_queries()) == 1
    done = forget(client, redis_client, index, Selection(sessions=("s0",)), min_visitors=3)
    assert done == ForgetReport(events=1, queries=1, rebuilt=1)
    assert past_queries() == {}
    assert redis_client.hlen(queries_key(index, HALF_LIFE_DAYS)) == 0
    assert redis_client.hlen(few_key(index, HALF_LIFE_DAYS)) == 1


# --- nothing comes back ---


def test_what_was_forgotten_is_refused_with_its_reason_and_stays_away(
    index: str, client: OpenSearch, redis_client: Redis, take: Any, run: Any, state: Any
) -> None:
    take(index, [*OTHERS, *SPY, SPYS_PAGE])
    run(index, sessions=("spy",))
    before = state(index)
    report = take(index, [*SPY, SPYS_PAGE])
    assert (report.counted, dict(report.rejected)) == (0, {FORGOTTEN: 4})
    assert report.read == 4
    rebuild(client, redis_client, index, min_visitors=1)
    assert state(index) == before


def test_new_clicks_of_the_same_session_count(index: str, take: Any, run: Any, state: Any) -> None:
    take(index, SPY)
    run(index, sessions=("spy",))
    assert take(index, [click("asthma", "d1", "spy", position=3)]).counted == 1
    assert state(index)["public"] == {query_id("asthma"): 1.0}


def test_what_is_forgotten_while_it_is_counted_is_counted_no_more(
    index: str,
    client: OpenSearch,
    redis_client: Redis,
    take: Any,
    run: Any,
    state: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    take(index, OTHERS)
    before, marked = state(index), marks(redis_client, index)
    intake = Intake(client, redis_client, index, min_visitors=1)
    count = intake._counter.count

    def count_late(*args: Any, **more: Any) -> Any:
        run(index, sessions=("spy",))  # after the events were kept, to its end
        return count(*args, **more)

    monkeypatch.setattr(intake._counter, "count", count_late)
    report = intake.take([*SPY, SPYS_PAGE])
    assert (report.counted, report.impressions, dict(report.rejected)) == (0, 0, {FORGOTTEN: 4})
    assert state(index) == before
    assert marks(redis_client, index) == marked


# --- whose events they are ---


def test_a_page_that_names_another_visitor_stays(index: str, client: OpenSearch, take: Any, run: Any) -> None:
    """A log whose `query_id` isn't one search's ties visitors to each other: each keeps what names him."""
    take(
        index,
        [
            click("asthma", "d1", "spy", query_id="q"),
            click("asthma", "d2", "s1", query_id="q"),
            ClickEvent(query="asthma", kind="impression", query_id="q", session="s1", timestamp=NOON),
        ],
    )
    assert run(index, sessions=("spy",)).events == 1


def test_users_and_their_pages(index: str, take: Any, run: Any, state: Any) -> None:
    page = ClickEvent(
        query="asthma", kind="impression", query_id="q", user="u1", timestamp=NOON, shown=("d1",)
    )
    take(
        index,
        [page, click("asthma", "d1", "s1", user="u1", query_id="q"), click("asthma", "d1", "s1", user="u2")],
    )
    assert run(index, users=("u1",)).events == 2
    assert state(index)["public"] == {query_id("asthma"): 1.0}


def test_clicks_that_were_over_the_cap_count_in_the_place_of_forgotten_ones(
    index: str, client: OpenSearch, redis_client: Redis, state: Any
) -> None:
    rules = {"min_visitors": 1, "max_a_day": 2}
    minutes = count(time.time(), 60)
    intake = Intake(client, redis_client, index, clock=lambda: next(minutes), **rules)
    for number, query in enumerate(["asthma", "copd", "stroke", "gout"]):
        intake.take([click(query, f"d{number}", "eager")])
    assert set(state(index)["public"]) == {query_id("asthma"), query_id("copd")}
    done = forget(client, redis_client, index, Selection(queries=("asthma",)), **rules)
    assert (done.events, done.removed) == (1, 1)
    assert set(state(index)["public"]) == {query_id("copd"), query_id("stroke")}
    after = state(index)
    rebuild(client, redis_client, index, **rules)
    assert state(index) == after


# --- vectors ---


def test_the_vector_of_a_forgotten_spelling_goes(
    index: str, client: OpenSearch, take: Any, run: Any, embed_query: Any
) -> None:
    """The text of a past query is the greatest of its spellings: the lower case here, which the spy typed."""
    take(index, [click("asthma inhaler", "d1", "spy"), click("Asthma Inhaler", "d1", "s1"), *OTHERS[3:5]])
    embed_query("asthma inhaler", [1, 0, 0])
    embed_query("copd", [0, 1, 0])
    run(index, sessions=("spy",))
    asthma = client.get(index=queries_index(index), id=query_id("asthma inhaler"))["_source"]
    assert asthma["text"] == "Asthma Inhaler"
    assert VECTOR_FIELD not in asthma
    assert "trifuse" not in asthma
    run(index, sessions=("s1",))
    assert VECTOR_FIELD in client.get(index=queries_index(index), id=query_id("copd"))["_source"]


def test_past_queries_of_another_encoder_stay_where_they_are(
    index: str,
    client: OpenSearch,
    make_index: Callable[..., str],
    space: EncoderSpace,
    take: Any,
    run: Any,
    past_queries: Any,
) -> None:
    """Only `trifuse clicks rebuild` makes them all again."""
    take(index, [*OTHERS, *SPY])
    client.indices.delete(index=index)
    make_index(replace(space, encoder="another"))
    run(index, sessions=("spy",))
    assert set(past_queries()) == {query_id("asthma"), query_id("copd")}


# --- what it would be ---


@pytest.mark.parametrize(
    ("conditions", "events", "queries"),
    [
        ({"sessions": ("spy",)}, 4, 2),
        ({"queries": ("asthma",)}, 8, 1),
        ({"before": NOON + 1}, 9, 3),
        ({"sessions": ("nobody",)}, 0, 0),
    ],
)
def test_a_preview_says_what_is_deleted_and_changes_nothing(
    index: str,
    client: OpenSearch,
    take: Any,
    run: Any,
    state: Any,
    conditions: dict[str, Any],
    events: int,
    queries: int,
) -> None:
    take(index, [*OTHERS, *SPY, SPYS_PAGE])
    before = state(index)
    assert preview(client, index, Selection(**conditions)) == ForgetReport(events=events, queries=queries)
    assert state(index) == before
    done = run(index, **conditions)
    assert (done.events, done.queries) == (events, queries)


def test_nothing_given_is_refused(index: str, client: OpenSearch, redis_client: Redis) -> None:
    with pytest.raises(NothingSelected, match="name queries, sessions or users, or a date"):
        forget(client, redis_client, index, Selection())
    with pytest.raises(NothingSelected):
        preview(client, index, Selection())


# --- killed and run again ---

KILLED = textwrap.dedent(
    """
    import os, signal, sys
    from opensearchpy import OpenSearch
    from redis import Redis
    from trifuse.worker.clicks import forget as module
    from trifuse.worker.clicks.selection import Selection

    name, calls = sys.argv[1], int(sys.argv[2])
    original = getattr(module, name)

    def killed(*args, **kwargs):
        global calls
        if not calls:
            os.kill(os.getpid(), signal.SIGKILL)
        calls -= 1
        return original(*args, **kwargs)

    setattr(module, name, killed)
    module.EVENTS_AT_ONCE, module.AT_ONCE = 2, 1
    client = OpenSearch(hosts=[os.environ["OPENSEARCH_URL"]])
    redis = Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)
    module.forget(client, redis, sys.argv[3], Selection(sessions=("spy",)), min_visitors=1)
    """
)


@pytest.mark.parametrize(
    ("where", "calls"),
    [
        ("drop_marks", 1),  # the second page is noted, and not deleted
        ("touched", 0),  # all is deleted, nothing counted anew
        ("rebuild", 1),  # one of two queries is counted anew
        ("settle", 0),  # and nobody noted that it is
        ("drop_names", 0),
    ],
)
def test_killed_and_run_again(
    index: str,
    services: Any,
    client: OpenSearch,
    take: Any,
    run: Any,
    state: Any,
    where: str,
    calls: int,
) -> None:
    take(index, OTHERS)
    before = state(index)
    take(index, [*SPY, SPYS_PAGE])
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, where, str(calls), index],
        env={**os.environ, **services.environ()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert state(index) != before
    run(index, sessions=("spy",))
    assert state(index) == before
    assert touched(client, index, "query", 10) == touched(client, index, "document", 10) == []
    assert take(index, SPY).rejected == {FORGOTTEN: 3}
