"""What is kept of forgotten events: that they were, so that nobody brings them back without being told.

A message that the broker delivers again, or a log that is loaded a second time, would else put a deleted
event back. So `trifuse-forgotten-NAME` keeps a hash of each deleted event's id, and nothing else of it; the
intake rejects what it finds there. Beside them stand, while a deletion is under way, the ids of the past
queries that it touched and that aren't counted anew yet: whoever runs it again after a crash finds them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from opensearchpy import OpenSearch

from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.mapping import index_body

FORGOTTEN = "forgotten before"
"""Why the intake doesn't take such an event."""

_IF_ANY = {"ignore_unavailable": "true"}


class Touched(NamedTuple):
    """A past query that has to be counted anew, and the version of the note that says so."""

    query: str
    seq_no: int
    primary_term: int


def forgotten_index(index: str) -> str:
    """The name of the index that holds the hashes of an index's forgotten events."""
    return f"trifuse-forgotten-{index}"


def forgotten_body() -> dict[str, Any]:
    """Its body: `_id` is an event's hash, or stands for the past query `touched`; `at` in milliseconds."""
    return index_body({"touched": {"type": "keyword"}, "at": {"type": "date", "format": "epoch_millis"}})


def among_forgotten(client: OpenSearch, index: str, ids: Collection[str]) -> set[str]:
    """Which of these ids (up to 10,000) are of events that were forgotten."""
    if not ids:
        return set()
    hashes = {_hash(event_id): event_id for event_id in ids}
    body = {
        "size": len(hashes),
        "query": {"ids": {"values": list(hashes)}},
        "_source": False,
        "track_total_hits": False,
    }
    found = client.search(index=forgotten_index(index), body=body, params=_IF_ANY)
    return {hashes[hit["_id"]] for hit in found["hits"]["hits"]}


def remember(
    client: OpenSearch, index: str, *, events: Iterable[str], queries: Iterable[str], at: float
) -> None:
    """Note events that are to be deleted, and the past queries that have to be counted anew without them.

    Args:
        events: their ids; hashes of them are kept.
        queries: ids of past queries.
        at: seconds since 1970.

    Raises:
        ServerUnavailable: OpenSearch didn't take them all.
    """
    when = round(at * 1000.0)
    notes: dict[str, dict[str, Any]] = {_hash(event): {"at": when} for event in events}
    notes |= {_touched(query): {"at": when, "touched": query} for query in queries}
    name = forgotten_index(index)
    _write(client, [Action(op="index", index=name, id=key, source=note) for key, note in notes.items()])


def touched_queries(client: OpenSearch, index: str, size: int) -> list[Touched]:
    """Past queries that have to be counted anew, so many at most."""
    name = forgotten_index(index)
    client.indices.refresh(index=name, params=_IF_ANY)
    body = {
        "size": size,
        "query": {"exists": {"field": "touched"}},
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }
    hits = client.search(index=name, body=body, params=_IF_ANY)["hits"]["hits"]
    return [Touched(hit["_source"]["touched"], hit["_seq_no"], hit["_primary_term"]) for hit in hits]


def settle(client: OpenSearch, index: str, queries: Iterable[Touched]) -> None:
    """Drop past queries from those that have to be counted anew, unless they were touched again since.

    Raises:
        ServerUnavailable: OpenSearch didn't drop them all.
    """
    name = forgotten_index(index)
    _write(
        client,
        [
            Action(
                op="delete",
                index=name,
                id=_touched(note.query),
                if_seq_no=note.seq_no,
                if_primary_term=note.primary_term,
            )
            for note in queries
        ],
    )


def _write(client: OpenSearch, actions: list[Action]) -> None:
    for item in bulk(client, actions).items:
        if not item.ok and item.status != 409:  # touched again, and settled by whoever did
            raise ServerUnavailable(
                f"{item.action.index!r} wasn't written ({item.reason}): run the same command again when "
                "OpenSearch is well; it goes on where it stopped"
            )


def _touched(query: str) -> str:
    return f"touched:{query}"


def _hash(event_id: str) -> str:
    return hashlib.blake2b(event_id.encode(), digest_size=16).hexdigest()
