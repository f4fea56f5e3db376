"""How many documents of an index are current, stale, missing, failed or empty: each is one of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.cursors import read_cursors
from trifuse.indexer.embedded import EmbeddedField, embedded_fields
from trifuse.indexer.failures import FAILED_INDEX, Failure, failure_pages
from trifuse.indexer.pending import embedded_query, empty_query, text_fields, wanted_mark
from trifuse.indexer.reading import find_by_ids, refresh, search
from trifuse.indexer.retry import Retry
from trifuse.indexer.scan import count_stale

MOST_READ = 2_000
"""How many documents of a shard are read to count stale ones; beyond that the last sync's count is told."""

_BRIEF = Retry(retries=3)


class Counts(msgspec.Struct, frozen=True):
    """`documents = current + stale + missing + failed + empty`, as of the last refresh.

    Args:
        current: have the vector of their text, in the present space.
        stale: have that of an older text.
        missing: have none, or one of another space.
        failed: can't be embedded as they are: see the index `trifuse-failed`.
        empty: have no text, and are marked so.
        stale_as_of: when `stale` was counted, ISO 8601; None if never.
    """

    documents: int
    current: int
    stale: int
    missing: int
    failed: int
    empty: int
    stale_as_of: str | None

    @property
    def pending(self) -> int:
        """Documents that a worker has still to look at."""
        return self.stale + self.missing


def counts(client: OpenSearch, index: str, *, field: str | None = None) -> dict[str, Any]:
    """The counts of an index as JSON, or of all indexes behind an alias.

    Args:
        field: the vector field; None takes the one that is furthest behind.

    Raises:
        IndexMissing, IndexNotOurs: there is no such index, or no such vector field.
    """
    by_field: dict[str, list[Counts]] = defaultdict(list)
    for target in embedded_fields(client, index):
        if field in (None, target.field):
            by_field[target.field].append(count_field(client, target))
    found = (total(listed) for listed in by_field.values())
    result: dict[str, Any] = msgspec.to_builtins(min(found, key=lambda item: item.current))
    return result


def total(listed: Sequence[Counts]) -> Counts:
    """The sums; the oldest time."""
    times = [item.stale_as_of for item in listed]
    return Counts(
        documents=sum(item.documents for item in listed),
        current=sum(item.current for item in listed),
        stale=sum(item.stale for item in listed),
        missing=sum(item.missing for item in listed),
        failed=sum(item.failed for item in listed),
        empty=sum(item.empty for item in listed),
        stale_as_of=None if None in times else min(filter(None, times), default=None),
    )


def count_field(client: OpenSearch, target: EmbeddedField) -> Counts:
    """The counts of one vector field of one index."""
    marked = _by_mark(client, target)
    failed: Counter[str] = Counter()
    for page in failure_pages(client, target, retry=_BRIEF):
        failed += _failed(client, target, page)
    stale = count_stale(client, target, most=MOST_READ, retry=_BRIEF)
    with_vector = min(stale.with_vector, marked["embedded"] - failed["embedded"])
    without = min(stale.without, marked["empty"] - failed["empty"])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Counts(
        documents=marked.total(),
        current=marked["embedded"] - failed["embedded"] - with_vector,
        stale=with_vector + without,
        missing=marked["missing"] - failed["missing"],
        failed=failed.total(),
        empty=marked["empty"] - failed["empty"] - without,
        stale_as_of=now if stale.complete else read_cursors(client, target).at,
    )


def count_refreshed(client: OpenSearch, target: EmbeddedField) -> Counts:
    """The counts of one vector field, with all that was written until now."""
    refresh(client, f"{target.index},{FAILED_INDEX}")
    return count_field(client, target)


def _by_mark(client: OpenSearch, target: EmbeddedField) -> Counter[str]:
    """The documents by what their mark says: `embedded`, `empty` or `missing`."""
    body = {
        "size": 0,
        "track_total_hits": True,
        "aggs": {
            "marks": {
                "filters": {
                    "filters": {"embedded": embedded_query(target), "empty": empty_query(target)},
                    "other_bucket_key": "missing",
                }
            }
        },
    }
    answer = search(client, target.index, body, retry=_BRIEF)
    buckets = answer.get("aggregations", {}).get("marks", {}).get("buckets", {})
    return Counter({name: bucket["doc_count"] for name, bucket in buckets.items()})


def _failed(client: OpenSearch, target: EmbeddedField, failures: Iterable[Failure]) -> Counter[str]:
    """The documents that are still as they were when they failed, by what their mark says."""
    marks = {item.hint: item.mark for item in failures}
    named = {"embedded": embedded_query(target), "empty": empty_query(target)}
    hits = find_by_ids(
        client,
        target.index,
        (doc_id for doc_id, _ in marks),
        source=text_fields(target),
        named=[{"bool": {"filter": [query], "_name": name}} for name, query in named.items()],
        retry=_BRIEF,
    )
    return Counter(
        next(iter(hit.get("matched_queries", ())), "missing")
        for hit in hits
        if wanted_mark(hit.get("_source", {}), target.space)[1]
        == marks.get((hit["_id"], hit.get("_routing")))
    )
