"""What deleted events leave behind: marks and names in Redis, and other clicks that count in their place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trifuse.ranker.clicks.records import doc_hash
from trifuse.ranker.keys import docs_key, seen_key, visits_key
from trifuse.worker.clicks.event_search import EventSearch
from trifuse.worker.clicks.packing import event_mark, visitor_mark

Event = Mapping[str, Any]
"""An event as the event index keeps it; times in milliseconds since 1970."""


def visits_of(
    search: EventSearch, events: Sequence[Event], selected: Mapping[str, Any]
) -> dict[str, tuple[int, int]]:
    """Of each visitor's day among events: how many events it has, and how many of them are selected."""
    visits = sorted({event["visit"] for event in events if event.get("visit")})
    if not visits:
        return {}
    days = {
        "terms": {"field": "visit", "size": len(visits)},
        "aggs": {"selected": {"filter": selected}},
    }
    found = search.aggregate({"terms": {"visit": visits}}, {"days": days})["days"]["buckets"]
    return {bucket["key"]: (bucket["doc_count"], bucket["selected"]["doc_count"]) for bucket in found}


def queries_beside(
    search: EventSearch, visits: Mapping[str, tuple[int, int]], max_a_day: int
) -> Iterator[str]:
    """The past queries of days on which a visitor may have reached the cap.

    Without some of that day's events others may count that hadn't, for whichever query they are.
    """
    busy = [visit for visit, (events, _) in visits.items() if events > max_a_day]
    if busy:
        for bucket in search.buckets({"query": "query_key"}, query={"terms": {"visit": busy}}):
            yield bucket["key"]["query"]


def drop_marks(
    redis: Any,
    of: tuple[str, float],
    events: Sequence[Event],
    visits: Mapping[str, tuple[int, int]],
) -> None:
    """Drop the marks of counted events: of those without a visitor, and of days that are wholly selected.

    The marks of other days stay for as long as any do, 8 days: they are hashes, and bound what else the
    visitor does that day.

    Args:
        of: the index and the half-life in days.
    """
    whole = {visit for visit, (total, selected) in visits.items() if total == selected}
    pipeline = redis.pipeline(transaction=False)
    for event in events:
        visitor, when = event.get("user") or event.get("session"), event["timestamp"] / 1000.0
        if visitor is None:
            event_id = event["event_id"]
            pipeline.srem(seen_key(*of, when), event_mark(event_id), event_mark(f"page:{event_id}"))
        elif event.get("visit") in whole:
            marks = (visitor_mark(visitor), visitor_mark(visitor, page=True))
            pipeline.hdel(visits_key(*of, when), *marks)
    pipeline.execute()


def drop_names(search: EventSearch, redis: Any, of: tuple[str, float], documents: Sequence[str]) -> None:
    """Drop the names of those documents that have no clicks left.

    Args:
        of: the index and the half-life in days.
    """
    search.refresh()
    clicked = search.clicked("doc_id", documents)
    gone = [document for document in documents if document not in clicked]
    if not gone:
        return
    redis.hdel(docs_key(*of), *map(doc_hash, gone))
    search.refresh()  # a click that came in between wrote its document's name before it was dropped
    if again := search.clicked("doc_id", gone):
        redis.hset(docs_key(*of), mapping={doc_hash(document): document for document in again})
