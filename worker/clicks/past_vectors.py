"""Vectors of past queries whose text is another one now: dropped where the old text is to be forgotten.

Elsewhere such a vector stays until a worker makes the new one: it is of another spelling of the same query.
"""

from __future__ import annotations

from collections.abc import Mapping

from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS
from trifuse.encoder.spaces import spaces_in_meta
from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.ranker.clicks.past_queries import queries_index

_ROUNDS = 10
"""Each ends with one of the writers that got in each other's way being done."""


def drop_vectors_of(client: OpenSearch, index: str, texts: Mapping[str, str]) -> None:
    """Drop the vectors of past queries whose text isn't any more what it was; `trifuse sync` makes others.

    Args:
        texts: past query's id to the text that it had.

    Raises:
        ServerUnavailable: OpenSearch didn't take them.
    """
    name, pending = queries_index(index), list(texts)
    excluded = ",".join([MARKS, *_vector_fields(client, name)])
    for _ in range(_ROUNDS):
        if not pending:
            return
        found = client.mget(index=name, body={"ids": pending}, params={"_source_excludes": excluded})
        changed = [
            doc for doc in found["docs"] if doc.get("found") and doc["_source"]["text"] != texts[doc["_id"]]
        ]
        actions = [
            Action(
                op="index",
                index=name,
                id=doc["_id"],
                source=doc["_source"],
                if_seq_no=doc["_seq_no"],
                if_primary_term=doc["_primary_term"],
            )
            for doc in changed
        ]
        items = bulk(client, actions).items
        if failed := [item for item in items if not item.ok and item.status != 409]:
            raise ServerUnavailable(f"past query {failed[0].action.id} wasn't written: {failed[0].reason}")
        pending = [item.action.id for item in items if not item.ok]
    if pending:
        raise ServerUnavailable(
            f"{len(pending)} past queries of {name!r} were written by others {_ROUNDS} times over: try again"
        )


def _vector_fields(client: OpenSearch, name: str) -> list[str]:
    found = client.indices.get_mapping(index=name)
    return [field for entry in found.values() for field in spaces_in_meta(entry["mappings"].get("_meta"))]
