"""The documents of past queries: any order of writes, and any repetition, ends in the same ones.

Only public queries have one. A query becomes public after its first clicks, so what is written first is made
from all its events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.clicks.settings import segment_of
from trifuse.worker.clicks.event_search import EventSearch, clicks_of

_ROUNDS = 10
"""Each ends with at least one of the writers that got in each other's way being done."""


class PastQuery(msgspec.Struct, frozen=True, kw_only=True):
    """A public query.

    Args:
        id: of its normal form.
        text: of its spellings the greatest by code point, which prefers lower case: the one that is embedded.
        frequency: how often something was clicked for it.
        last_seen: milliseconds since 1970.
    """

    id: str
    text: str
    normalized: str
    frequency: int
    last_seen: int

    def source(self) -> dict[str, Any]:
        """The document, without its vector."""
        return {
            "text": self.text,
            "normalized": self.normalized,
            "frequency": self.frequency,
            "segment": segment_of(self.frequency),
            "last_seen": self.last_seen,
        }

    def merged(self, stored: Mapping[str, Any]) -> PastQuery:
        """The later of both in everything: merging in any order gives the same."""
        return msgspec.structs.replace(
            self,
            text=max(self.text, stored["text"]),
            frequency=max(self.frequency, stored["frequency"]),
            last_seen=max(self.last_seen, stored["last_seen"]),
        )


def write_past_queries(
    client: OpenSearch, index: str, queries: Sequence[PastQuery], *, exact: bool = False
) -> list[str]:
    """Write public past queries of an index; a vector stays where it is, and is stale where the text changed.

    Args:
        exact: write them as they are, as a rebuild does; else each is merged with what stands there.

    Returns:
        ids of those whose text is new: they wait for a vector.

    Raises:
        ServerUnavailable: OpenSearch didn't take them.
    """
    name = queries_index(index)
    pending = {query.id: query for query in queries}
    changed: list[str] = []
    for _ in range(_ROUNDS):
        if not pending:
            return changed
        found = client.mget(
            index=name,
            body={"ids": list(pending)},
            params={"_source_includes": "text,normalized,frequency,segment,last_seen"},
        )
        actions = []
        if not exact:
            first = [pending[doc["_id"]] for doc in found["docs"] if doc.get("found") is False]
            pending |= {query.id: query for query in with_history(client, index, first)}
        for doc in found["docs"]:
            if "error" in doc:
                raise ServerUnavailable(
                    f"{name!r} is gone, or is being made anew: try again after `trifuse clicks rebuild`"
                )
            query = pending[doc["_id"]]
            action = _action(name, query if exact or not doc["found"] else query.merged(doc["_source"]), doc)
            if action is None:
                del pending[doc["_id"]]
            else:
                actions.append(action)
        for item in bulk(client, actions).items:
            if item.ok:
                query = pending.pop(item.action.id)
                if item.action.op == "create" or "text" in (item.action.source or {}):
                    changed.append(query.id)
            elif item.status not in (404, 409):
                raise ServerUnavailable(
                    f"past query {item.action.id} of {name!r} wasn't written: {item.reason}"
                )
    if pending:
        raise ServerUnavailable(
            f"{len(pending)} past queries of {name!r} were written by others {_ROUNDS} times over: try again"
        )
    return changed


def with_history(client: OpenSearch, index: str, queries: Sequence[PastQuery]) -> list[PastQuery]:
    """Past queries merged with all clicks for them that the event index holds."""
    if not queries:
        return []
    search = EventSearch(client, index)
    search.refresh()
    spelling = {"terms": {"field": "query", "order": {"_key": "desc"}, "size": 1}}
    groups = {
        "queries": {
            "terms": {"field": "query_key", "size": len(queries)},
            "aggs": {"text": spelling, "last": {"max": {"field": "timestamp"}}},
        }
    }
    wanted = clicks_of("query_key", [query.id for query in queries])
    found = search.aggregate(wanted, groups)["queries"]["buckets"]
    history = {
        bucket["key"]: {
            "text": bucket["text"]["buckets"][0]["key"],
            "last_seen": round(bucket["last"]["value"]),
        }
        for bucket in found
    }
    return [query.merged({**query.source(), **history.get(query.id, {})}) for query in queries]


def forget_past_queries(client: OpenSearch, index: str, ids: Sequence[str]) -> int:
    """Delete the documents, and so the vectors, of past queries; how many there were."""
    if not ids:
        return 0
    name = queries_index(index)
    found = client.mget(index=name, body={"ids": list(ids)}, params={"_source": "false"})
    actions = [Action(op="delete", index=name, id=doc["_id"]) for doc in found["docs"] if doc.get("found")]
    refused = [item for item in bulk(client, actions).items if not item.ok and item.status != 404]
    if refused:
        raise ServerUnavailable(
            f"{len(refused)} past queries of {name!r} weren't deleted ({refused[0].reason}): do it again "
            "when OpenSearch is well"
        )
    return len(actions)


def _action(name: str, query: PastQuery, stored: Mapping[str, Any]) -> Action | None:
    """The write that makes the stored document this query; None where it is already."""
    if not stored["found"]:
        return Action(op="create", index=name, id=query.id, source=query.source())
    change = {key: value for key, value in query.source().items() if stored["_source"].get(key) != value}
    if not change:
        return None
    return Action(
        op="update",
        index=name,
        id=query.id,
        source=change,
        if_seq_no=stored["_seq_no"],
        if_primary_term=stored["_primary_term"],
    )
