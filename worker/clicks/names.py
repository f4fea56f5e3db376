"""What is behind the hashes and ids of the click log: documents' ids, and past queries' texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.clicks.reads import read_names


def text_of(value: bytes | str) -> str:
    """What the click store holds, as text; the client may be one that decodes."""
    return value.decode() if isinstance(value, bytes) else value


def document_names(redis: Any, index: str, hashes: Sequence[bytes]) -> list[str | None]:
    """The ids of documents by their hashes; None where none is kept: nothing was ever clicked there."""
    found = read_names(redis, index, HALF_LIFE_DAYS, hashes) if hashes else []
    return [None if name is None else name.decode() for name in found]


def query_texts(client: OpenSearch, index: str, ids: Sequence[str]) -> dict[str, str]:
    """The texts of past queries by their ids, of those that the query index has."""
    if not ids:
        return {}
    try:
        found = client.mget(
            index=queries_index(index), body={"ids": list(ids)}, params={"_source_includes": "text"}
        )
    except NotFoundError:
        return {}
    return {doc["_id"]: doc["_source"]["text"] for doc in found["docs"] if doc.get("found")}
