"""Forgetting: events are deleted, and what was counted from them is counted anew without them.

    forget(client, redis, "trials", Selection(sessions=("s-17",)))

It can be ended at any moment and run again. Page by page, the past queries that a page of events touched and
hashes of its events are noted first (`trifuse.worker.clicks.forgotten`), then the events are deleted; at the
end, the noted queries are counted anew from the events that are left, and each note is dropped once that is
done. After an end before the deletion the events are found again, after one behind it the notes are. Events
are deleted one by one and not by a query: such a query would also delete what came after the page was read,
whose past query nobody noted.

A search that one event ties to a visitor is that visitor's: what else is kept of it without a name (the page
that was shown, in many logs) goes with it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from redis.exceptions import RedisError

from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.worker.clicks.counting import MAX_A_DAY, MIN_VISITORS
from trifuse.worker.clicks.errors import ClickStoreDown, NothingSelected, Unsettled
from trifuse.worker.clicks.event_search import EventSearch
from trifuse.worker.clicks.forgotten import forgotten_body, forgotten_index, remember, settle, touched
from trifuse.worker.clicks.indexes import ensure, ensure_log
from trifuse.worker.clicks.names import query_texts
from trifuse.worker.clicks.past_vectors import drop_vectors_of
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.clicks.selection import Selection
from trifuse.worker.clicks.traces import Event, drop_marks, drop_names, queries_beside, visits_of

EVENTS_AT_ONCE = 1000
AT_ONCE = 10_000
_FIELDS = ("event_id", "query_key", "query_id", "doc_id", "user", "session", "visit", "timestamp")


class ForgetReport(msgspec.Struct):
    """What was forgotten, in numbers alone.

    Args:
        events: events that were deleted; that would be, in a preview.
        queries: past queries that they touched, also those that an earlier run left behind.
        rebuilt: of these, how many have clicks left and were counted anew.
        removed: of these, how many have none left and are gone everywhere.
    """

    events: int = 0
    queries: int = 0
    rebuilt: int = 0
    removed: int = 0


def preview(client: OpenSearch, index: str, selection: Selection) -> ForgetReport:
    """What would be forgotten: how many events, and of how many past queries. Nothing is changed.

    Raises:
        NothingSelected: no condition is given.
        NoEvents: the index has no click log.
    """
    _require(selection)
    search = EventSearch(client, index)
    search.refresh()
    selected = selection.body()
    report = ForgetReport(
        events=search.count(selected),
        queries=sum(1 for _ in search.buckets({"query": "query_key"}, query=selected)),
    )
    if selection.of_visitors:
        searches = search.buckets({"id": "query_id"}, query=selected)
        while ids := [bucket["key"]["id"] for bucket in islice(searches, EVENTS_AT_ONCE)]:
            report.events += search.count(selection.searches_body(ids))
    return report


def forget(
    client: OpenSearch,
    redis: Any,
    index: str,
    selection: Selection,
    *,
    half_life_days: float = HALF_LIFE_DAYS,
    min_visitors: int = MIN_VISITORS,
    max_a_day: int = MAX_A_DAY,
    clock: Callable[[], float] = time.time,
    progress: Callable[[ForgetReport], None] | None = None,
) -> ForgetReport:
    """Delete the events of a search index that are selected, and everything that was made from them.

    Args:
        half_life_days, min_visitors, max_a_day: as the index is counted.

    Raises:
        NothingSelected: no condition is given.
        SearchIndexMissing: there is no such index.
        ServerUnavailable, ClickStoreDown, Unsettled: not everything is done; run it again.
    """
    _require(selection)
    ensure_log(client, index)
    ensure(client, forgotten_index(index), forgotten_body())
    run = _Run(client, redis, index, half_life_days, max_a_day)
    tell = progress or (lambda report: None)
    try:
        for page in _pages(run.search, selection):
            run.delete(page, selection, clock())
            tell(run.report)
        while notes := touched(client, index, "query", AT_ONCE):
            keys = [note.value for note in notes]
            texts = query_texts(client, index, keys)
            rebuilt = rebuild(
                client,
                redis,
                index,
                queries=keys,
                half_life_days=half_life_days,
                min_visitors=min_visitors,
                max_a_day=max_a_day,
                clock=clock,
            )
            if rebuilt.unsettled:
                raise Unsettled(
                    f"{rebuilt.unsettled} queries are clicked for faster than they can be counted anew, and "
                    "still hold what was to be forgotten: run the same again when there is less traffic"
                )
            drop_vectors_of(client, index, texts)
            settle(client, index, notes)
            run.tell_of(keys)
            tell(run.report)
        while notes := touched(client, index, "document", AT_ONCE):
            drop_names(run.search, redis, run.store, [note.value for note in notes])
            settle(client, index, notes)
    except RedisError as error:
        raise ClickStoreDown(
            f"the click store didn't answer ({error}): run the same command again when Redis is well; it "
            "goes on where it stopped"
        ) from error
    return run.report


class _Run:
    """One run: where it reads and writes, and its report."""

    def __init__(
        self, client: OpenSearch, redis: Any, index: str, half_life_days: float, max_a_day: int
    ) -> None:
        self.search = EventSearch(client, index)
        self.store = (index, half_life_days)
        self.report = ForgetReport()
        self._client = client
        self._redis = redis
        self._max_a_day = max_a_day

    def delete(self, events: Sequence[Event], selection: Selection, now: float) -> None:
        """Note what a page of events touches, then delete them."""
        visits = visits_of(self.search, events, selection.body())
        queries = {event["query_key"] for event in events}
        ids = [event["event_id"] for event in events]
        remember(
            self._client,
            self.store[0],
            events=ids,
            queries=queries.union(queries_beside(self.search, visits, self._max_a_day)),
            documents={event["doc_id"] for event in events if event.get("doc_id")},
            at=now,
        )
        drop_marks(self._redis, self.store, events, visits)
        name = self.search.name
        for item in bulk(self._client, (Action(op="delete", index=name, id=event) for event in ids)).items:
            if not item.ok:
                raise ServerUnavailable(
                    f"an event of {name!r} wasn't deleted ({item.reason}): run the same command again when "
                    "OpenSearch is well; it goes on where it stopped"
                )
            self.report.events += item.result == "deleted"

    def tell_of(self, queries: Sequence[str]) -> None:
        """Add past queries that were counted anew to the report."""
        left = len(self.search.clicked("query_key", queries))
        self.report.queries += len(queries)
        self.report.rebuilt += left
        self.report.removed += len(queries) - left


def _pages(search: EventSearch, selection: Selection) -> Iterator[list[Event]]:
    """The events to delete, until none is left, as more may come meanwhile.

    What only its search ties to a visitor comes before what names the visitor: after that nothing would.
    """
    selected, some = selection.body(), True
    while some:
        some = False
        search.refresh()
        for page in search.pages(selected, _FIELDS, EVENTS_AT_ONCE):
            some = True
            searches = sorted({event["query_id"] for event in page if event.get("query_id")})
            if selection.of_visitors and searches:
                yield from search.pages(selection.searches_body(searches), _FIELDS, EVENTS_AT_ONCE)
            yield page


def _require(selection: Selection) -> None:
    if selection.is_empty:
        raise NothingSelected(
            "which events are to be forgotten isn't said: name queries, sessions or users, or a date "
            "(--query, --session, --user, --before)"
        )
