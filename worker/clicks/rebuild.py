"""Make Redis and the past queries again from the event index, while clicks go on coming in.

Query by query, each replaced at once, so that a search meets the old counts or the new ones, never none. A
click that is counted while its query is read would be lost; so a query whose count has moved since then is
read again. A click that is kept but not counted yet is read here and marked, so that whoever brings it counts
it no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from redis.exceptions import RedisError

from trifuse.indexer.bulk import Action, bulk
from trifuse.ranker.decay import HALF_LIFE_DAYS, log2_add, log2_weight
from trifuse.ranker.keys import SEEN_LIFETIME_S
from trifuse.ranker.past_queries import normalize_query, queries_index
from trifuse.worker.clicks.counting import Click, Counter
from trifuse.worker.clicks.errors import ClickStoreDown
from trifuse.worker.clicks.indexes import drop_other_space, ensure_log, events_index
from trifuse.worker.clicks.past import PastQuery, write_past_queries
from trifuse.worker.clicks.store import StoredEvent

QUERIES_AT_ONCE = 200
EVENTS_AT_ONCE = 5000
_ATTEMPTS = 20


class RebuildReport(msgspec.Struct):
    """What a rebuild made.

    Args:
        queries: past queries that the log holds.
        pairs: pairs of query and document that it holds; of each query, the most clicked are kept.
        clicks: clicks that it holds.
        removed: past queries that it no longer holds.
        unsettled: queries that were clicked for faster than they could be read, and kept their old counts.
    """

    queries: int = 0
    pairs: int = 0
    clicks: int = 0
    removed: int = 0
    unsettled: int = 0


class _Query(msgspec.Struct):
    """What the log holds of one past query; `docs` are log2 of decayed clicks."""

    past: PastQuery
    docs: dict[str, float]


def rebuild(
    client: OpenSearch,
    redis: Any,
    index: str,
    *,
    half_life_days: float = HALF_LIFE_DAYS,
    clock: Callable[[], float] = time.time,
    progress: Callable[[RebuildReport], None] | None = None,
) -> RebuildReport:
    """Make the counts and the past queries of an index again from its events.

    Where the search index is embedded by another encoder than the past queries are, their index is made
    anew, and they wait for vectors. Redis is left with what incremental counting gives, up to rounding (see
    `trifuse.ranker.decay`), wherever no query has more documents than are kept.

    Raises:
        SearchIndexMissing: there is no such index.
        ServerUnavailable: OpenSearch didn't take the past queries.
        ClickStoreDown: Redis didn't answer; run it again when it does.
    """
    drop_other_space(client, index)
    ensure_log(client, index)
    counter = Counter(redis, index, half_life_days=half_life_days)
    run = _Rebuild(client, counter, clock() - SEEN_LIFETIME_S, RebuildReport())
    try:
        for keys in run.query_keys():
            run.replace(keys)
            if progress is not None:
                progress(run.report)
        run.sweep()
    except (RedisError, OSError) as error:
        raise ClickStoreDown(
            f"the click store didn't answer in the middle of a rebuild: {error}; run "
            f"`trifuse clicks rebuild --index {index}` again when Redis is well"
        ) from error
    return run.report


class _Rebuild(msgspec.Struct):
    """One rebuild; `recent` is the time from which redelivery is possible."""

    client: Any
    counter: Counter
    recent: float
    report: RebuildReport

    def query_keys(self) -> Iterator[list[str]]:
        """Ids of the past queries that the log holds clicks for, in order, so many at a time."""
        self._refresh()
        after: dict[str, Any] | None = None
        while True:
            composite: dict[str, Any] = {
                "size": QUERIES_AT_ONCE,
                "sources": [{"key": {"terms": {"field": "query_key"}}}],
            }
            if after is not None:
                composite["after"] = after
            body = {
                "size": 0,
                "query": _clicks(),
                "aggs": {"queries": {"composite": composite}},
                "track_total_hits": False,
            }
            found = self._search(body)["aggregations"]["queries"]
            if not found["buckets"]:
                return
            yield [bucket["key"]["key"] for bucket in found["buckets"]]
            after = found["after_key"]

    def replace(self, keys: Sequence[str]) -> None:
        """Put what the log holds of these queries in the place of what is counted."""
        pending = list(keys)
        for _ in range(_ATTEMPTS):
            totals = self.counter.totals(pending)
            self._refresh()
            # A query that isn't found was deleted meanwhile: the sweep drops it.
            queries = self._read(pending)
            replaced = [
                queries[key]
                for key, was in zip(pending, totals, strict=True)
                if key in queries
                and self.counter.replace(key, queries[key].docs, queries[key].past.frequency, was=was)
            ]
            past = [query.past for query in replaced]
            write_past_queries(self.client, self.counter.index, past, exact=True)
            # A click that came between the two writes has had its own write of the past query undone.
            settled = set()
            for query, total in zip(replaced, self.counter.totals([q.id for q in past]), strict=True):
                if total == query.past.frequency:
                    settled.add(query.past.id)
                    self.report.queries += 1
                    self.report.pairs += len(query.docs)
                    self.report.clicks += query.past.frequency
            pending = [key for key in queries if key not in settled]
            if not pending:
                break
        self.report.unsettled += len(pending)

    def _read(self, keys: Sequence[str]) -> dict[str, _Query]:
        """What the log holds of these queries; recent clicks are marked as counted on the way."""
        queries: dict[str, _Query] = {}
        for page in self._events(keys):
            self.counter.mark_seen(
                [
                    click
                    for event in page
                    if event.received >= self.recent * 1000.0 and (click := event.click) is not None
                ]
            )
            for key, events in groupby(page, key=lambda event: event.query_key):
                for event in events:
                    click = event.click
                    if click is not None:
                        queries[key] = self._add(queries.get(key), event, click)
        return queries

    def _add(self, query: _Query | None, event: StoredEvent, click: Click) -> _Query:
        past = PastQuery(
            id=event.query_key,
            text=event.query,
            normalized=normalize_query(event.query),
            frequency=click.count,
            last_seen=event.timestamp,
        )
        weight = log2_weight(click.timestamp, self.counter.half_life_days, click.count)
        if query is None:
            return _Query(past, {click.doc: weight})
        total = query.past.frequency + click.count
        query.past = msgspec.structs.replace(past.merged(query.past.source()), frequency=total)
        known = query.docs.get(click.doc)
        query.docs[click.doc] = weight if known is None else log2_add(known, weight)
        return query

    def _events(self, keys: Sequence[str]) -> Iterator[list[StoredEvent]]:
        """The clicks of these queries, in the order of the queries, a page at a time."""
        body: dict[str, Any] = {
            "size": EVENTS_AT_ONCE,
            "query": {"bool": {"filter": [_clicks(), {"terms": {"query_key": list(keys)}}]}},
            "sort": [{"query_key": "asc"}, {"event_id": "asc"}],
            "_source": {"excludes": ["shown"]},
            "track_total_hits": False,
        }
        while True:
            hits = self._search(body)["hits"]["hits"]
            if not hits:
                return
            yield [msgspec.convert(hit["_source"], StoredEvent) for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def sweep(self) -> None:
        """Drop past queries that the log no longer holds."""
        index = queries_index(self.counter.index)
        self.client.indices.refresh(index=index)
        body: dict[str, Any] = {
            "size": 1000,
            "sort": [{"normalized": "asc"}],
            "_source": False,
            "track_total_hits": False,
        }
        while hits := self.client.search(index=index, body=body)["hits"]["hits"]:
            gone = self._not_in_log([hit["_id"] for hit in hits])
            bulk(self.client, (Action(op="delete", index=index, id=query) for query in gone))
            self.report.removed += len(gone)
            body["search_after"] = hits[-1]["sort"]
        for queries in self.counter.queries(1000):
            self.counter.forget(self._not_in_log(queries))

    def _not_in_log(self, queries: Sequence[str]) -> list[str]:
        self._refresh()
        found = self._search(
            {
                "size": 0,
                "query": {"bool": {"filter": [_clicks(), {"terms": {"query_key": list(queries)}}]}},
                "aggs": {"queries": {"terms": {"field": "query_key", "size": len(queries)}}},
                "track_total_hits": False,
            }
        )
        kept = {bucket["key"] for bucket in found["aggregations"]["queries"]["buckets"]}
        return [query for query in queries if query not in kept]

    def _refresh(self) -> None:
        self.client.indices.refresh(index=events_index(self.counter.index))

    def _search(self, body: dict[str, Any]) -> Any:
        return self.client.search(index=events_index(self.counter.index), body=body)


def _clicks() -> dict[str, Any]:
    return {"term": {"kind": "click"}}
