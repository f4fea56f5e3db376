"""From events to evidence: check, keep, count, and note the query. Free of Celery.

    report = Intake(client, redis, "trials").take(events)

The event index comes first: what it took is never lost, and a rebuild counts it again. The counts come
second, and Redis marks in the same script which events are in them: an event that is delivered again, after a
crash between the two or for any other reason, is counted once. The mark lives for 8 days; an event that was
kept longer ago is a duplicate without looking.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from redis.exceptions import RedisError

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.hints import Enqueue
from trifuse.ranker.decay import HALF_LIFE_DAYS
from trifuse.ranker.keys import DAY_S, SEEN_LIFETIME_S
from trifuse.ranker.past_queries import normalize_query, queries_index
from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.counting import Click, Counter
from trifuse.worker.clicks.errors import ClickStoreDown, UnreadableLog
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.indexes import ensure_log
from trifuse.worker.clicks.past import PastQuery, write_past_queries
from trifuse.worker.clicks.report import IntakeReport
from trifuse.worker.clicks.store import (
    StoredEvent,
    known_documents,
    stored_event,
    texts_of,
    write_events,
)

__all__ = ["Intake", "IntakeReport"]

logger = logging.getLogger(__name__)

BATCH = 500
_REDELIVERED_S = SEEN_LIFETIME_S - DAY_S


class Intake:
    """Takes the click events of one search index.

    Args:
        client: of OpenSearch.
        redis: of the click store.
        index: the search index or alias that the clicks belong to.
        enqueue: told of past queries that need a vector; without it, `trifuse sync` finds them.
        clock: seconds since 1970.

    Raises:
        SearchIndexMissing: there is no such index.
    """

    def __init__(
        self,
        client: OpenSearch,
        redis: Any,
        index: str,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
        enqueue: Enqueue | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._index = index
        self._counter = Counter(redis, index, half_life_days=half_life_days)
        self._enqueue = enqueue
        self._clock = clock
        self._space = ensure_log(client, index)

    def take(
        self,
        events: Iterable[ClickEvent | Fault],
        *,
        batch: int = BATCH,
        progress: Callable[[IntakeReport], None] | None = None,
    ) -> IntakeReport:
        """Take events as they come, a batch at a time; memory doesn't grow with their number.

        Raises:
            ServerUnavailable: OpenSearch didn't take a batch.
            ClickStoreDown: Redis didn't take the counts of a batch; its events are kept.
        """
        report = IntakeReport()
        for group in _groups(events, batch):
            self._take(group, report)
            if progress is not None:
                progress(report)
        return report

    def _take(self, group: Sequence[ClickEvent | Fault], report: IntakeReport) -> None:
        now = self._clock()
        events = self._checked(group, report, now)
        written = write_events(self._client, self._index, [stored_event(event, now) for event in events])
        report.reject(checks.NOT_WRITTEN, written.refused)
        # What was kept in the last days may have missed its count, if whoever kept it was killed then.
        since = (now - _REDELIVERED_S) * 1000.0
        again = [event for event in written.known if event.received >= since]
        clicks = self._count([*written.new, *again], report)
        new_impressions = sum(event.click is None for event in written.new)
        report.impressions += new_impressions
        report.reject(checks.DUPLICATE, len(events) - written.refused - new_impressions - clicks)

    def _checked(
        self, group: Sequence[ClickEvent | Fault], report: IntakeReport, now: float
    ) -> list[ClickEvent]:
        """The events that can be taken, each once; the others are noted in the report."""
        found: dict[str, ClickEvent] = {}
        for event in self._with_queries(group):
            if isinstance(event, Fault):
                if event.reason is None:
                    report.ignored += 1
                else:
                    report.reject(event.reason)
            elif reason := checks.fault(event, now):
                report.reject(reason)
            elif event.id in found:
                report.reject(checks.DUPLICATE)
            else:
                found[event.id] = event
        documents = {event.doc_id for event in found.values() if event.kind == "click" and event.doc_id}
        known = known_documents(self._client, self._index, documents)
        events = [event for event in found.values() if event.kind == "impression" or event.doc_id in known]
        report.reject(checks.UNKNOWN_DOCUMENT, len(found) - len(events))
        return events

    def _with_queries(self, group: Sequence[ClickEvent | Fault]) -> Iterator[ClickEvent | Fault]:
        """Events with the query that their search's impression recorded, where they don't hold it."""
        ids = {event.query_id for event in group if isinstance(event, ClickEvent) and event.query is None}
        texts = texts_of(self._client, self._index, {i for i in ids if i and checks.is_id(i)})
        for event in group:
            if isinstance(event, ClickEvent) and event.query is None and event.query_id in texts:
                yield msgspec.structs.replace(event, query=texts[event.query_id])
            else:
                yield event

    def _count(self, events: Sequence[StoredEvent], report: IntakeReport) -> int:
        """Count the clicks among kept events, and note their queries; how many were counted now."""
        kept = [(event, event.click) for event in events]
        clicks: list[Click] = [click for _, click in kept if click is not None]
        try:
            counted = self._counter.count(clicks)
        except (RedisError, OSError) as error:
            raise ClickStoreDown(
                f"the click store didn't take {len(clicks)} clicks: {error}; their events are kept: when "
                f"Redis is well, do the same again, or run `trifuse clicks rebuild --index {self._index}`"
            ) from error
        report.counted += len(counted.positions)
        report.queries += counted.queries
        report.pairs += counted.pairs
        past: dict[str, PastQuery] = {}
        for event, click in kept:
            if click is not None:
                query = _past_query(event, counted.totals[event.query_key])
                seen = past.get(query.id)
                past[query.id] = query.merged(seen.source()) if seen else query
        self._hint(write_past_queries(self._client, self._index, list(past.values())))
        return len(counted.positions)

    def _hint(self, ids: Sequence[str]) -> None:
        if self._enqueue is None or self._space is None or not ids:
            return
        try:
            self._enqueue(
                queries_index(self._index), VECTOR_FIELD, self._space, [(query, None) for query in ids]
            )
        except HintsUndelivered as error:
            logger.warning("%s", error)
            self._enqueue = None  # the next ones would wait for the broker in vain, too


def _past_query(event: StoredEvent, frequency: int) -> PastQuery:
    return PastQuery(
        id=event.query_key,
        text=event.query,
        normalized=normalize_query(event.query),
        frequency=frequency,
        last_seen=event.timestamp,
    )


def _groups(events: Iterable[ClickEvent | Fault], size: int) -> Iterator[list[ClickEvent | Fault]]:
    """Lists of so many; what stands before a fault in a file comes before its error."""
    group: list[ClickEvent | Fault] = []
    try:
        for event in events:
            group.append(event)
            if len(group) == size:
                yield group
                group = []
    except UnreadableLog:
        if group:
            yield group
        raise
    if group:
        yield group
