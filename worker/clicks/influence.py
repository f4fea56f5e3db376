"""Who moves the rankings: the visitors whose clicks count most, for people to look at.

    influence(client, "trials", size=20).visitors[0].counted

A visitor is a user, or a session where no user is known. What counts of a visitor's clicks is worked out from
the events by the rules of the intake: one click a document, query and day, and so many a day at most. The
events are read twice, in the order of the visitors and in that of the documents; kept in memory are the ids
of one visitor's queries and documents, one document's visitors, and the visitors that are asked for.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Literal

import msgspec
from opensearchpy import OpenSearch

from trifuse.worker.clicks.event_search import CLICKS, EventSearch

Kind = Literal["user", "session"]
Who = tuple[Kind, str]

_DAY = {"date_histogram": {"field": "timestamp", "fixed_interval": "1d"}}
"""Days of UTC, as the intake counts them."""

_BY_SESSION = {"bool": {"filter": [CLICKS], "must_not": [{"exists": {"field": "user"}}]}}
_UNKNOWN = {"bool": {"filter": [_BY_SESSION], "must_not": [{"exists": {"field": "session"}}]}}
_COUNT = {"clicks": {"sum": {"field": "count", "missing": 1}}}


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """What one visitor did.

    Args:
        visitor: the user's or the session's id.
        kind: which of both.
        clicks: events of clicks.
        counted: clicks that count.
        share: of all clicks that count.
        repeated: clicks on a document that had counted for that query and day.
        over_cap: clicks beyond what counts of one visitor in a day.
        queries, documents: how many different ones were clicked for, and on.
        majority: documents that more than half of all counted clicks on them are this visitor's of.
    """

    visitor: str
    kind: Kind
    clicks: int
    counted: int
    share: float = 0.0
    repeated: int
    over_cap: int
    queries: int
    documents: int
    majority: int = 0


class Influence(msgspec.Struct, frozen=True):
    """The most influential visitors of a log.

    Args:
        visitors: those with the most counted clicks, the most first; ties by kind and id.
        visitors_in_all: how many clicked.
        counted: clicks that count, of visitors and of events that name none.
        unknown: of these, clicks whose event names no visitor: no rule bounds what one person does with them.
    """

    visitors: list[Visitor]
    visitors_in_all: int
    counted: int
    unknown: int


def influence(client: OpenSearch, index: str, *, size: int, max_a_day: int) -> Influence:
    """Work out who moves the rankings of a search index.

    Args:
        size: visitors to tell of.
        max_a_day: clicks of one visitor that count in a day.

    Raises:
        NoEvents: the index has no click log.
    """
    search = EventSearch(client, index)
    search.refresh()
    scan = _Scan(search, max_a_day)
    top = heapq.nsmallest(size, scan.visitors(), key=lambda v: (-v.counted, v.kind, v.visitor))
    unknown = int(search.aggregate(_UNKNOWN, _COUNT)["clicks"]["value"])
    counted = scan.counted + unknown
    majorities = scan.majorities({(visitor.kind, visitor.visitor) for visitor in top})
    return Influence(
        [
            msgspec.structs.replace(
                visitor,
                share=visitor.counted / counted,
                majority=majorities[visitor.kind, visitor.visitor],
            )
            for visitor in top
        ],
        scan.seen,
        counted,
        unknown,
    )


class _Scan:
    """Both readings of the events; the first leaves behind what the second needs of it."""

    def __init__(self, search: EventSearch, max_a_day: int) -> None:
        self._search = search
        self._max_a_day = max_a_day
        self._over: dict[tuple[Who, int], float] = {}
        self.seen = 0
        self.counted = 0

    def visitors(self) -> Iterator[Visitor]:
        """Everyone who clicked."""
        kinds: dict[Kind, dict[str, Any]] = {"user": CLICKS, "session": _BY_SESSION}
        for kind, query in kinds.items():
            sources = {"who": kind, "day": _DAY, "query": "query_key", "doc": "doc_id"}
            buckets = self._search.buckets(sources, query=query)
            for name, group in groupby(buckets, key=lambda bucket: bucket["key"]["who"]):
                visitor = self._visitor(kind, name, group)
                self.seen += 1
                self.counted += visitor.counted
                yield visitor

    def _visitor(self, kind: Kind, name: str, buckets: Iterable[dict[str, Any]]) -> Visitor:
        days, queries, documents, clicks = Counter[int](), set[str](), set[str](), 0
        for bucket in buckets:
            key = bucket["key"]
            days[key["day"]] += 1
            queries.add(key["query"])
            documents.add(key["doc"])
            clicks += bucket["doc_count"]
        for day, number in days.items():
            if number > self._max_a_day:
                self._over[(kind, name), day] = self._max_a_day / number
        different = days.total()
        counted = sum(min(number, self._max_a_day) for number in days.values())
        return Visitor(
            visitor=name,
            kind=kind,
            clicks=clicks,
            counted=counted,
            repeated=clicks - different,
            over_cap=different - counted,
            queries=len(queries),
            documents=len(documents),
        )

    def majorities(self, visitors: set[Who]) -> Counter[Who]:
        """How many documents each of these gives most of the counted clicks on.

        Which clicks of a day counted where some were over the cap isn't known here: each counts in part.
        """
        found = Counter[Who]()
        sources = {
            "doc": "doc_id",
            "user": _or_none("user"),
            "session": _or_none("session"),
            "day": _DAY,
            "query": "query_key",
        }
        # A visitor with a user is in as many groups as there were sessions: a day's click counts in one.
        buckets = self._search.buckets(sources, _COUNT, query=CLICKS)
        for _, group in groupby(buckets, key=lambda bucket: bucket["key"]["doc"]):
            total, clicks = 0.0, defaultdict[Who, float](float)
            seen: set[tuple[Who, int, str]] = set()
            for bucket in group:
                key = bucket["key"]
                who = _who(key)
                if who is None:
                    total += bucket["clicks"]["value"]
                elif (click := (who, key["day"], key["query"])) not in seen:
                    seen.add(click)
                    counts = self._over.get((who, key["day"]), 1.0)
                    total += counts
                    clicks[who] += counts
            found.update(who for who, counts in clicks.items() if who in visitors and counts > total / 2)
        return found


def _or_none(field: str) -> dict[str, Any]:
    return {"terms": {"field": field, "missing_bucket": True}}


def _who(key: dict[str, Any]) -> Who | None:
    if key["user"] is not None:
        return "user", key["user"]
    return None if key["session"] is None else ("session", key["session"])
