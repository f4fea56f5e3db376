"""Make Redis and the past queries again from the event index, while clicks go on coming in.

Query by query, each replaced at once, so that a search meets the old counts or the new ones, never none. A
click that is counted while its query is read would be lost; so a query whose records have changed since then
is read again. A click that is kept but not counted yet is read here and marked, so that whoever brings it
counts it no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from redis.exceptions import RedisError

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.keys import SEEN_LIFETIME_S
from trifuse.worker.clicks.caps import read_caps
from trifuse.worker.clicks.counting import MAX_A_DAY, MAX_DOCS, MIN_VISITORS, Counter
from trifuse.worker.clicks.errors import ClickStoreDown
from trifuse.worker.clicks.event_search import CLICKS, EventSearch
from trifuse.worker.clicks.indexes import drop_other_space, ensure_log
from trifuse.worker.clicks.past import forget_past_queries, write_past_queries
from trifuse.worker.clicks.positions import curve
from trifuse.worker.clicks.replay import Replay, Rules
from trifuse.worker.clicks.restoring import Restorer
from trifuse.worker.clicks.store import StoredEvent

QUERIES_AT_ONCE = 200
EVENTS_AT_ONCE = 5000
_ATTEMPTS = 20


class RebuildReport(msgspec.Struct):
    """What a rebuild made.

    Args:
        queries: past queries that have clicks that count, public or not.
        pairs: pairs of query and document of these; of each query, the most clicked are kept.
        clicks: clicks that count.
        removed: documents of past queries that are gone: the log no longer holds them, or too few visitors.
        unsettled: queries that were clicked for faster than they could be read, and kept their old counts.
    """

    queries: int = 0
    pairs: int = 0
    clicks: int = 0
    removed: int = 0
    unsettled: int = 0


def rebuild(
    client: OpenSearch,
    redis: Any,
    index: str,
    *,
    queries: Collection[str] | None = None,
    half_life_days: float = HALF_LIFE_DAYS,
    min_visitors: int = MIN_VISITORS,
    max_a_day: int = MAX_A_DAY,
    clock: Callable[[], float] = time.time,
    progress: Callable[[RebuildReport], None] | None = None,
) -> RebuildReport:
    """Make the counts and the past queries of an index again from its events.

    Where the search index is embedded by another encoder than the past queries are, their index is made
    anew, unless `queries` are named, and they wait for vectors. Redis is left with what incremental counting
    gives, up to rounding, wherever no query has more documents than are kept, and events came one batch after
    the other.

    Args:
        queries: ids of the past queries to make again; one without events is removed everywhere. None: all
            that the log holds, and what it no longer holds is removed.
        min_visitors, max_a_day: what the intake counts by.

    Raises:
        SearchIndexMissing: there is no such index.
        BadCurve: what is kept as the curve of click-through rates is none.
        ServerUnavailable: OpenSearch didn't take the past queries.
        ClickStoreDown: Redis didn't answer; run it again when it does.
        ValueError: a half-life or a bound that can't be.
    """
    if queries is None:  # some of them can't make the others' index again
        drop_other_space(client, index)
    ensure_log(client, index)
    counter = Counter(
        redis, index, half_life_days=half_life_days, min_visitors=min_visitors, max_a_day=max_a_day
    )
    search = EventSearch(client, index)
    search.refresh()
    rates = curve(client, index)
    rules = Rules(half_life_days, min_visitors, MAX_DOCS, rates, read_caps(client, index, max_a_day, rates))
    recent = round((clock() - SEEN_LIFETIME_S) * 1000.0)
    store = Restorer(redis, index, half_life_days)
    run = _Rebuild(client, index, search, counter, store, rules, recent, RebuildReport())
    try:
        for keys in run.query_keys() if queries is None else _groups(queries):
            run.replace(keys)
            if progress is not None:
                progress(run.report)
        if queries is None:
            run.sweep()
    except (RedisError, OSError) as error:
        raise ClickStoreDown(
            f"the click store didn't answer in the middle of a rebuild: {error}; run "
            f"`trifuse clicks rebuild --index {index}` again when Redis is well"
        ) from error
    return run.report


class _Rebuild(msgspec.Struct):
    """One rebuild; `recent` is the time (in milliseconds) from which redelivery is possible."""

    client: Any
    index: str
    search: EventSearch
    counter: Counter
    store: Restorer
    rules: Rules
    recent: int
    report: RebuildReport

    def query_keys(self) -> Iterator[list[str]]:
        """Ids of the past queries that the log holds clicks for, in order, so many at a time."""
        found = self.search.buckets({"key": "query_key"}, query=CLICKS, size=QUERIES_AT_ONCE)
        while keys := [bucket["key"]["key"] for bucket in islice(found, QUERIES_AT_ONCE)]:
            yield keys

    def replace(self, keys: Sequence[str]) -> None:
        """Put what the log holds of these queries in the place of what is counted."""
        pending = list(keys)
        for _ in range(_ATTEMPTS):
            was = self.store.strings(pending)
            self.search.refresh()
            replays = self._read(pending)
            put = {query: self.store.put(query, replays[query], was=was[query]) for query in pending}
            done = {query: records for query, records in put.items() if records is not None}
            public = [replay.past for query in done if (replay := replays[query]).public and replay.past]
            write_past_queries(self.client, self.index, public, exact=True)
            gone = [query for query in done if not replays[query].public]
            self.report.removed += forget_past_queries(self.client, self.index, gone)
            # A click that came between the two writes has had its own write of the past query undone.
            now = self.store.strings(list(done))
            settled = {query for query, records in done.items() if now[query] == records}
            for query in settled:
                replay = replays[query]
                self.report.queries += bool(replay.clicks)
                self.report.pairs += len(replay.docs)
                self.report.clicks += replay.clicks
            pending = [query for query in pending if query not in settled]
            if not pending:
                break
        self.report.unsettled += len(pending)

    def _read(self, keys: Sequence[str]) -> dict[str, Replay]:
        """What the log holds of these queries; what counts of recent events is marked as counted."""
        replays = {key: Replay(self.rules) for key in keys}
        for page in self.search.pages({"terms": {"query_key": list(keys)}}, None, EVENTS_AT_ONCE):
            marked = []
            for event in msgspec.convert(page, list[StoredEvent]):
                items = replays[event.query_key].add(event)
                if event.received >= self.recent:
                    marked += items
            self.counter.mark(marked)
        return replays

    def sweep(self) -> None:
        """Remove past queries that the log no longer holds."""
        name = queries_index(self.index)
        self.client.indices.refresh(index=name)
        body: dict[str, Any] = {
            "size": QUERIES_AT_ONCE,
            "sort": [{"normalized": "asc"}],
            "_source": False,
            "track_total_hits": False,
        }
        while hits := self.client.search(index=name, body=body)["hits"]["hits"]:
            self._remove(self._not_in_log([hit["_id"] for hit in hits]))
            body["search_after"] = hits[-1]["sort"]
        for queries in self.store.queries(QUERIES_AT_ONCE):
            self._remove(self._not_in_log(queries))

    def _remove(self, queries: Sequence[str]) -> None:
        if queries:
            self.replace(queries)

    def _not_in_log(self, queries: Sequence[str]) -> list[str]:
        self.search.refresh()
        kept = self.search.clicked("query_key", queries)
        return [query for query in queries if query not in kept]


def _groups(queries: Collection[str]) -> Iterator[list[str]]:
    each = sorted(set(queries))
    for start in range(0, len(each), QUERIES_AT_ONCE):
        yield each[start : start + QUERIES_AT_ONCE]
