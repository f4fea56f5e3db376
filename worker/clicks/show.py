"""What the click store holds, for people to look at."""

from __future__ import annotations

import time
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.ranker.decay import HALF_LIFE_DAYS, decayed_count
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.ranker.past_queries import normalize_query, queries_index, query_id


class ShownQuery(msgspec.Struct, frozen=True):
    """A past query. `query` is its text; its id where the query index doesn't have it."""

    query: str
    clicks: int
    documents: int


class ShownDocument(msgspec.Struct, frozen=True):
    """A document clicked for a query; `clicks` in clicks of this moment, decayed by their age."""

    id: str
    clicks: float


def top_queries(client: OpenSearch, redis: Any, index: str, size: int) -> list[ShownQuery]:
    """The past queries that were clicked for most often, ties by id."""
    pipeline = redis.pipeline(transaction=False)
    found = redis.zrevrange(queries_key(index, HALF_LIFE_DAYS), 0, size - 1, withscores=True)
    ids = [_text(query) for query, _ in found]
    for query in ids:
        pipeline.zcard(clicks_key(index, HALF_LIFE_DAYS, query))
    texts = _texts(client, index, ids)
    return [
        ShownQuery(texts.get(query, query), int(clicks), int(documents))
        for query, (_, clicks), documents in zip(ids, found, pipeline.execute(), strict=True)
    ]


def clicked_documents(redis: Any, index: str, query: str, size: int) -> list[ShownDocument]:
    """The documents that were clicked for a query, the most clicked first."""
    key = clicks_key(index, HALF_LIFE_DAYS, query_id(normalize_query(query)))
    found = redis.zrevrange(key, 0, size - 1, withscores=True)
    now = time.time()
    return [
        ShownDocument(_text(doc), decayed_count(float(weight), now, HALF_LIFE_DAYS)) for doc, weight in found
    ]


def _texts(client: OpenSearch, index: str, ids: list[str]) -> dict[str, str]:
    if not ids:
        return {}
    try:
        found = client.mget(
            index=queries_index(index), body={"ids": ids}, params={"_source_includes": "text"}
        )
    except NotFoundError:
        return {}
    return {doc["_id"]: doc["_source"]["text"] for doc in found["docs"] if doc.get("found")}


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
