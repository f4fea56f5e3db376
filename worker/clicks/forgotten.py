"""What is kept of forgotten events: that they were, so that nobody brings them back without being told.

A message that the broker delivers again, or a log that is loaded a second time, would else put a deleted
event back. So `trifuse-forgotten-NAME` keeps a hash of each deleted event's id, and nothing else of it; the
intake rejects what it finds there. While a deletion is under way, notes stand beside them: the past queries
and the documents that it touched and that aren't gone through yet. Whoever runs it again after a crash finds
them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from typing import Any, Literal, NamedTuple, get_args

from opensearchpy import OpenSearch

from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.mapping import index_body

FORGOTTEN = "forgotten before"
"""Why the intake doesn't take such an event."""

_IF_ANY = {"ignore_unavailable": "true"}


Touched = Literal["query", "document"]
"""What a note is of: a past query that has to be counted anew, or a document that may have no clicks left."""


class Note(NamedTuple):
    """What a deletion has touched, and the version of the note that says so."""

    value: str
    id: str
    seq_no: int
    primary_term: int


def forgotten_index(index: str) -> str:
    """The name of the index that holds the hashes of an index's forgotten events."""
    return f"trifuse-forgotten-{index}"


def forgotten_body() -> dict[str, Any]:
    """Its body: `_id` is an event's hash, or a note's that names a past query or a document.

    `at` is the time of the deletion, in milliseconds since 1970.
    """
    name = {"type": "keyword"}
    return index_body({"query": name, "document": name, "at": {"type": "date", "format": "epoch_millis"}})


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
    client: OpenSearch,
    index: str,
    *,
    events: Iterable[str],
    queries: Iterable[str],
    documents: Iterable[str],
    at: float,
) -> None:
    """Note events that are to be deleted, and what has to be gone through once they are.

    Args:
        events: their ids; hashes of them are kept.
        queries, documents: ids of past queries, and of documents.
        at: seconds since 1970.

    Raises:
        ServerUnavailable: OpenSearch didn't take them all.
    """
    when = round(at * 1000.0)
    notes: dict[str, dict[str, Any]] = {_hash(event): {"at": when} for event in events}
    for kind, values in (("query", queries), ("document", documents)):
        notes |= {f"{kind}:{_hash(value)}": {"at": when, kind: value} for value in values}
    name = forgotten_index(index)
    _write(client, [Action(op="index", index=name, id=key, source=note) for key, note in notes.items()])


def touched(client: OpenSearch, index: str, kind: Touched, size: int) -> list[Note]:
    """What deletions have touched and nobody has gone through yet, so many at most."""
    name = forgotten_index(index)
    client.indices.refresh(index=name, params=_IF_ANY)
    body = {
        "size": size,
        "query": {"exists": {"field": kind}},
        "seq_no_primary_term": True,
        "track_total_hits": False,
    }
    hits = client.search(index=name, body=body, params=_IF_ANY)["hits"]["hits"]
    return [Note(hit["_source"][kind], hit["_id"], hit["_seq_no"], hit["_primary_term"]) for hit in hits]


def is_unfinished(client: OpenSearch, index: str) -> bool:
    """Whether a deletion was ended before everything that it touched was gone through."""
    return any(touched(client, index, kind, 1) for kind in get_args(Touched))


def settle(client: OpenSearch, index: str, notes: Iterable[Note]) -> None:
    """Drop notes that were gone through, but those that were made again since.

    Raises:
        ServerUnavailable: OpenSearch didn't drop them all.
    """
    name = forgotten_index(index)
    drops = (
        Action(op="delete", index=name, id=note.id, if_seq_no=note.seq_no, if_primary_term=note.primary_term)
        for note in notes
    )
    _write(client, drops)


def _write(client: OpenSearch, actions: Iterable[Action]) -> None:
    for item in bulk(client, actions).items:
        if not item.ok and item.status != 409:  # noted again, for whoever did that
            raise ServerUnavailable(
                f"{item.action.index!r} wasn't written ({item.reason}): run the same command again when "
                "OpenSearch is well; it goes on where it stopped"
            )


def _hash(event_id: str) -> str:
    return hashlib.blake2b(event_id.encode(), digest_size=16).hexdigest()
