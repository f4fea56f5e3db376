"""Whose clicks move the rankings, by the rules that the intake counts by."""

from __future__ import annotations

import time
from itertools import count
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.worker.clicks.errors import NoEvents, SearchIndexMissing
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.influence import Influence, Visitor, influence
from trifuse.worker.clicks.intake import Intake

DAY = 86_400.0
NOON = (time.time() // DAY - 3) * DAY + DAY / 2


def click(query: str, doc: str, session: str | None = None, *, day: int = 0, **more: Any) -> ClickEvent:
    return ClickEvent(query=query, doc_id=doc, session=session, timestamp=NOON + day * DAY, **more)


LOG = [
    # bot: d1 to d3 for two queries are 6 a day, of which 4 count; the next day 2 of them, one twice
    *(click(query, f"d{n}", "bot") for query in ("asthma", "copd") for n in (1, 2, 3)),
    *(click("asthma", f"d{n}", "bot", day=1, event_id=f"e{n}{i}") for n, i in ((1, 1), (2, 1), (2, 2))),
    # u1 in two sessions: d1 for asthma counts once that day, whatever session it was in
    click("asthma", "d1", "s1", user="u1"),
    click("asthma", "d1", "s2", user="u1"),
    click("asthma", "d5", "s2", user="u1"),
    # s3 knows no user
    click("gout", "d1", "s3"),
    # nobody knows who: 5 clicks, and one
    click("gout", "d3", count=5),
    click("gout", "d2"),
    # pages and single impressions are no clicks
    ClickEvent(query="asthma", kind="impression", session="bot", timestamp=NOON, shown=("d1", "d2")),
    ClickEvent(query="asthma", kind="impression", session="s3", doc_id="d7", timestamp=NOON),
]


def test_visitors_by_what_counts(index: str, client: OpenSearch, redis_client: Redis) -> None:
    ticks = count(time.time())
    intake = Intake(client, redis_client, index, min_visitors=1, max_a_day=4, clock=lambda: next(ticks))
    counted = sum(intake.take([event]).counted for event in LOG)
    found = influence(client, index, size=10, max_a_day=4)
    # bot: 4 + 2; u1: 2; s3: 1; unknown: 5 + 1
    assert found == Influence(
        visitors=[
            Visitor(
                visitor="bot",
                kind="session",
                clicks=9,
                counted=6,
                share=6 / 15,
                repeated=1,
                over_cap=2,
                queries=2,
                documents=3,
                # 4 of 6 counted on the first day, so each as 2/3. d1: 2 · 2/3 + 1 of 4 1/3 in all; d2: the
                # same of 3 1/3; d3: 4/3 of 6 1/3
                majority=2,
            ),
            Visitor(
                visitor="u1",
                kind="user",
                clicks=3,
                counted=2,
                share=2 / 15,
                repeated=1,
                over_cap=0,
                queries=1,
                documents=2,
                majority=1,  # d5
            ),
            Visitor(
                visitor="s3",
                kind="session",
                clicks=1,
                counted=1,
                share=1 / 15,
                repeated=0,
                over_cap=0,
                queries=1,
                documents=1,
                majority=0,
            ),
        ],
        visitors_in_all=3,
        counted=15,
        unknown=6,
    )
    # an event counts once, whatever its count; the intake reports events
    assert counted == found.counted - 4
    assert [v.visitor for v in influence(client, index, size=1, max_a_day=4).visitors] == ["bot"]


def test_ties_are_in_the_order_of_their_names(index: str, client: OpenSearch, intake: Intake) -> None:
    intake.take([click("asthma", "d1", name) for name in ("c", "a", "b")])
    found = influence(client, index, size=2, max_a_day=100)
    assert [visitor.visitor for visitor in found.visitors] == ["a", "b"]
    assert found.visitors_in_all == 3


def test_an_empty_log_and_none(index: str, client: OpenSearch, intake: Intake) -> None:
    assert influence(client, index, size=5, max_a_day=100) == Influence([], 0, 0, 0)
    client.indices.delete(index=events_index(index))
    with pytest.raises(NoEvents, match="clicks load"):
        influence(client, index, size=5, max_a_day=100)
    with pytest.raises(SearchIndexMissing, match="check the name"):
        influence(client, f"{index}-absent", size=5, max_a_day=100)
