"""What the click store holds, for people to look at."""

from __future__ import annotations

import time
from heapq import nsmallest
from typing import Any

import msgspec
import numpy as np
from opensearchpy import OpenSearch

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.names import document_names, query_texts, text_of


class ShownQuery(msgspec.Struct, frozen=True):
    """A public past query. `query` is its text; its id where the query index doesn't have it."""

    query: str
    clicks: int
    documents: int


class ShownDocument(msgspec.Struct, frozen=True):
    """A document clicked for a query.

    Args:
        clicks: in clicks of this moment, decayed by their age.
        expected: the clicks expected at the ranks where it was shown, decayed as they are.
    """

    id: str
    clicks: float
    expected: float


def top_queries(client: OpenSearch, redis: Any, index: str, size: int) -> list[ShownQuery]:
    """The public past queries that were clicked for most often, ties by id; reads all of them."""
    every = redis.hscan_iter(queries_key(index, HALF_LIFE_DAYS), count=10_000)
    found = nsmallest(size, ((-int(clicks_counted(clicks) or 0), text_of(query)) for query, clicks in every))
    ids = [query for _, query in found]
    strings = read_strings(redis, [clicks_key(index, HALF_LIFE_DAYS, query) for query in ids])
    sums = merged(strings, time.time(), HALF_LIFE_DAYS)
    documents = np.bincount(sums.query[sums.clicks > 0], minlength=len(ids))
    texts = query_texts(client, index, ids)
    return [
        ShownQuery(texts.get(query, query), -less, int(count))
        for (less, query), count in zip(found, documents, strict=True)
    ]


def clicked_documents(redis: Any, index: str, query: str, size: int) -> list[ShownDocument]:
    """The documents that were clicked for a query, public or not, the most clicked first."""
    strings = read_strings(redis, [clicks_key(index, HALF_LIFE_DAYS, query_id(normalize_query(query)))])
    sums = merged(strings, time.time(), HALF_LIFE_DAYS)
    best = [row for row in np.argsort(-sums.clicks, kind="stable").tolist() if sums.clicks[row] > 0][:size]
    names = document_names(redis, index, [sums.docs[sums.doc[row]].tobytes() for row in best])
    return [
        ShownDocument(name, float(sums.clicks[row]), float(sums.expected[row]))
        for row, name in zip(best, names, strict=True)
        if name is not None
    ]
