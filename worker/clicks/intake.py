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

from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.hints import Enqueue
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import normalize_query, queries_index
from trifuse.ranker.keys import DAY_S, SEEN_LIFETIME_S
from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.counting import MAX_A_DAY, MIN_VISITORS, Counted, Counter
from trifuse.worker.clicks.errors import ClickStoreDown, UnreadableLog
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.forgotten import FORGOTTEN, among_forgotten
from trifuse.worker.clicks.indexes import ensure_log
from trifuse.worker.clicks.items import Item, items_of
from trifuse.worker.clicks.meanwhile import uncount
from trifuse.worker.clicks.past import PastQuery, write_past_queries
from trifuse.worker.clicks.placed import Placed
from trifuse.worker.clicks.positions import curve
from trifuse.worker.clicks.report import IntakeReport
from trifuse.worker.clicks.store import (
    StoredEvent,
    known_documents,
    stored_event,
    texts_of,
    write_events,
)

__all__ = ["Intake", "IntakeReport", "Taken"]

logger = logging.getLogger(__name__)

BATCH = 4000
"""Events that are looked up, kept and counted together: Redis counts some while others are packed."""

_REDELIVERED_S = SEEN_LIFETIME_S - DAY_S

Taken = ClickEvent | Fault | Placed
"""What an intake takes."""

OnReject = Callable[[Taken, str], None]


class Intake:
    """Takes the click events of one search index.

    Args:
        client: of OpenSearch.
        redis: of the click store.
        index: the search index or alias that the clicks belong to.
        min_visitors, max_a_day: see `trifuse.worker.clicks.counting.Counter`.
        pairs: count new pairs of query and document for the report.
        enqueue: told of past queries that need a vector; without it, `trifuse sync` finds them.
        clock: seconds since 1970.

    Raises:
        SearchIndexMissing: there is no such index.
        BadCurve: what is kept as the curve of click-through rates is none.
        ValueError: a half-life or a bound that can't be.
    """

    def __init__(
        self,
        client: OpenSearch,
        redis: Any,
        index: str,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
        min_visitors: int = MIN_VISITORS,
        max_a_day: int = MAX_A_DAY,
        pairs: bool = True,
        enqueue: Enqueue | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._index = index
        self._redis = redis
        self._rules: dict[str, Any] = {
            "half_life_days": half_life_days,
            "min_visitors": min_visitors,
            "max_a_day": max_a_day,
        }
        self._counter = Counter(redis, index, **self._rules)
        self._pairs = pairs
        self._enqueue = enqueue
        self._clock = clock
        self._spaces = ensure_log(client, index)
        self._curve = curve(client, index)

    def take(
        self,
        events: Iterable[Taken],
        *,
        batch: int = BATCH,
        progress: Callable[[IntakeReport], None] | None = None,
        on_reject: OnReject | None = None,
    ) -> IntakeReport:
        """Take events as they come, a batch at a time; memory doesn't grow with their number.

        Args:
            progress: told of the report after each batch.
            on_reject: told of each that isn't taken, as it came, and why; not of duplicates.

        Raises:
            ServerUnavailable: OpenSearch didn't take a batch.
            ClickStoreDown: Redis didn't take the counts of a batch; its events are kept.
        """
        report = IntakeReport()
        for group in _groups(events, batch):
            self._take(group, report, on_reject)
            if progress is not None:
                progress(report)
        return report

    def _take(self, group: Sequence[Taken], report: IntakeReport, on_reject: OnReject | None) -> None:
        now = self._clock()
        rejected = _Rejections(report, on_reject)
        came = self._checked(group, rejected, now)
        events = [stored_event(event, now) for event, _ in came.values()]
        written = write_events(self._client, self._index, events)
        # What was kept in the last days may have missed its count, if whoever kept it was killed then.
        since = (now - _REDELIVERED_S) * 1000.0
        again = [event for event in written.known if event.received >= since]
        # The order in which a rebuild reads them, so that caps fall on the same ones.
        ready = sorted([*written.new, *again], key=lambda event: (event.received, event.event_id))
        counted, capped, gone = self._count(ready, report)
        new, refused = {event.event_id for event in written.new}, set(written.refused)
        for event in events:
            taken = came[event.event_id][1]
            if event.event_id in gone:
                rejected.add(taken, FORGOTTEN)
            elif event.event_id in counted:
                report.counted += 1
            elif event.event_id in refused:
                rejected.add(taken, checks.NOT_WRITTEN)
            elif event.event_id not in new:
                rejected.add(taken, checks.DUPLICATE)
            elif event.kind == "impression":
                report.impressions += 1
            elif event.event_id in capped:
                rejected.add(taken, checks.OVER_CAP)
            else:
                rejected.add(taken, checks.REPEATED if event.visitor else checks.DUPLICATE)

    def _checked(
        self, group: Sequence[Taken], rejected: _Rejections, now: float
    ) -> dict[str, tuple[ClickEvent, Taken]]:
        """The events that can be taken, each once, by id, and what they came as."""
        found: dict[str, tuple[ClickEvent, Taken]] = {}
        for event, taken in zip(self._with_queries(group), group, strict=True):
            if isinstance(event, Fault):
                rejected.add(taken, event.reason)
            elif reason := checks.fault(event, now):
                rejected.add(taken, reason)
            elif event.id in found:
                rejected.add(taken, checks.DUPLICATE)
            else:
                found[event.id] = event, taken
        documents = {event.doc_id for event, _ in found.values() if event.kind == "click" and event.doc_id}
        known = known_documents(self._client, self._index, documents)
        forgotten = among_forgotten(self._client, self._index, found.keys())
        for event_id, (event, taken) in list(found.items()):
            if event_id in forgotten:
                reason = FORGOTTEN
            elif event.kind == "click" and event.doc_id not in known:
                reason = checks.UNKNOWN_DOCUMENT
            else:
                continue
            rejected.add(taken, reason)
            del found[event_id]
        return found

    def _with_queries(self, group: Sequence[Taken]) -> Iterator[ClickEvent | Fault]:
        """What came, with the query that its search's impression recorded, where it doesn't hold it."""
        items = [taken.item if isinstance(taken, Placed) else taken for taken in group]
        ids = {item.query_id for item in items if isinstance(item, ClickEvent) and item.query is None}
        texts = texts_of(self._client, self._index, {i for i in ids if i and checks.is_id(i)})
        for item in items:
            if isinstance(item, ClickEvent) and item.query is None and item.query_id in texts:
                yield msgspec.structs.replace(item, query=texts[item.query_id])
            else:
                yield item

    def _count(
        self, events: Sequence[StoredEvent], report: IntakeReport
    ) -> tuple[set[str], set[str], set[str]]:
        """Count kept events, and note their queries.

        Returns:
            ids of clicks that counted, of those over a cap, and of events that were forgotten meanwhile.
        """
        items = [(event, item) for event in events for item in items_of(event, self._curve)]
        try:
            counted = self._counter.count([item for _, item in items], pairs=self._pairs)
            self._hint(write_past_queries(self._client, self._index, _past_queries(events, counted)))
            gone = uncount(self._client, self._redis, self._index, events, **self._rules)
        except (RedisError, OSError) as error:
            raise ClickStoreDown(
                f"the click store didn't take {len(events)} events: {error}; they are kept: when Redis is "
                f"well, do the same again, or run `trifuse clicks rebuild --index {self._index}`"
            ) from error
        report.queries += counted.queries
        report.pairs += counted.pairs
        return _clicks(items, counted.counted), _clicks(items, counted.over_cap), gone

    def _hint(self, ids: Sequence[str]) -> None:
        if self._enqueue is None or not ids:
            return
        try:
            for field, space in self._spaces.items():
                self._enqueue(queries_index(self._index), field, space, [(query, None) for query in ids])
        except HintsUndelivered as error:
            logger.warning("%s", error)
            self._enqueue = None  # the next ones would wait for the broker in vain, too


class _Rejections(msgspec.Struct):
    """What isn't taken, counted and told."""

    report: IntakeReport
    told: OnReject | None

    def add(self, taken: Taken, reason: str | None) -> None:
        """Note one; without a reason it is a record of another kind."""
        if reason is None:
            self.report.ignored += 1
            return
        self.report.reject(reason)
        if self.told is not None and reason != checks.DUPLICATE:
            self.told(taken, reason)


def _clicks(items: Sequence[tuple[StoredEvent, Item]], positions: Iterable[int]) -> set[str]:
    return {items[position][0].event_id for position in positions if items[position][1].clicks}


def _past_queries(events: Iterable[StoredEvent], counted: Counted) -> list[PastQuery]:
    """The public queries that these events are clicks for."""
    past: dict[str, PastQuery] = {}
    for event in events:
        if event.kind != "click" or event.query_key not in counted.public:
            continue
        query = PastQuery(
            id=event.query_key,
            text=event.query,
            normalized=normalize_query(event.query),
            frequency=counted.public[event.query_key],
            last_seen=event.timestamp,
        )
        seen = past.get(query.id)
        past[query.id] = query.merged(seen.source()) if seen else query
    return list(past.values())


def _groups(events: Iterable[Taken], size: int) -> Iterator[list[Taken]]:
    """Lists of so many; what stands before a fault in a file comes before its error."""
    group: list[Taken] = []
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
