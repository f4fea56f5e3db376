"""What was forgotten between the two halves of its intake: after it was kept, before it was counted.

A deletion counts anew what it touched. An event that a worker counts after that would stay in the counts, and
its query among the past queries, until the next rebuild. So each batch looks once more when it is counted: a
deletion that isn't to be seen by then counts the batch's queries anew itself, since it makes its notes
visible before it reads them.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.worker.clicks.event_search import EventSearch
from trifuse.worker.clicks.forgotten import among_forgotten
from trifuse.worker.clicks.names import query_texts
from trifuse.worker.clicks.past_vectors import drop_vectors_of
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.clicks.store import StoredEvent
from trifuse.worker.clicks.traces import drop_marks, drop_names, visits_of

logger = logging.getLogger(__name__)


def uncount(
    client: OpenSearch,
    redis: Any,
    index: str,
    events: Sequence[StoredEvent],
    *,
    half_life_days: float,
    min_visitors: int,
    max_a_day: int,
) -> set[str]:
    """Count anew without them what some events touched that were forgotten while they were counted.

    Args:
        half_life_days, min_visitors, max_a_day: as the index is counted.

    Returns:
        their ids.

    Raises:
        ServerUnavailable, ClickStoreDown: not everything is done; a rebuild does it.
        RedisError: the marks and names of these events are left.
    """
    forgotten = among_forgotten(client, index, [event.event_id for event in events])
    if not forgotten:
        return forgotten
    gone = [event for event in events if event.event_id in forgotten]
    queries = sorted({event.query_key for event in gone})
    texts = query_texts(client, index, queries)
    rebuilt = rebuild(
        client,
        redis,
        index,
        queries=queries,
        half_life_days=half_life_days,
        min_visitors=min_visitors,
        max_a_day=max_a_day,
    )
    if rebuilt.unsettled:
        logger.warning(
            "%d queries of %r are clicked for faster than they can be counted anew, and still hold clicks "
            "that were forgotten: run `trifuse clicks rebuild --index %s` when there is less traffic",
            rebuilt.unsettled,
            index,
            index,
        )
    drop_vectors_of(client, index, texts)
    search, of = EventSearch(client, index), (index, half_life_days)
    as_kept = [msgspec.to_builtins(event) for event in gone]
    left = visits_of(search, as_kept, {"match_none": {}})
    empty = {event.visit: (0, 0) for event in gone if event.visit and event.visit not in left}
    drop_marks(redis, of, as_kept, empty)
    documents = sorted({event.doc_id for event in gone if event.doc_id})
    drop_names(search, redis, of, documents)
    return forgotten
