"""Take vectors and marks out of the documents of an index: a partial update can only set them to null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.indexer.errors import DetachUnfinished

_BATCH = 5_000
_IDLE = 10
_TIMEOUT_S = 300


def take_out(
    client: OpenSearch, index: str, query: Mapping[str, Any], script: str, params: Mapping[str, Any]
) -> Iterator[int]:
    """Run a script on the documents that match until none is left; yields how many at a time.

    A document that another writer changes at the same time is met again in the next round.

    Args:
        query: documents that hold what is to be taken out.
        script: takes it out of `ctx._source`.
        params: of the script.

    Raises:
        DetachUnfinished: other writers keep changing what is to be cleaned.
    """
    body = {"query": query, "script": {"lang": "painless", "source": script, "params": params}}
    how = {"conflicts": "proceed", "pipeline": "_none", "max_docs": _BATCH, "refresh": "true"}
    idle = 0
    while True:
        client.indices.refresh(index=index)
        left = int(client.count(index=index, body={"query": query})["count"])
        if not left:
            return
        answer: dict[str, Any] = client.update_by_query(
            index=index, body=body, params=how, request_timeout=_TIMEOUT_S
        )
        updated = int(answer["updated"])
        yield updated
        idle = 0 if updated else idle + 1
        if idle == _IDLE:
            raise DetachUnfinished(
                f"{left:,} documents of {index!r} still hold vectors: other writers change them all the "
                f"time, or they are refused ({str(answer.get('failures'))[:200]}); do the same again"
            )
