"""The event index: writing events once, and reading what is kept of them."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.bulk import Action, bulk
from trifuse.indexer.errors import ServerUnavailable
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.ranker.keys import DAY_S
from trifuse.worker.clicks.checks import MAX_SHOWN
from trifuse.worker.clicks.events import ClickEvent, impression_id
from trifuse.worker.clicks.indexes import events_index


class StoredEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An event as the event index keeps it; times in milliseconds since 1970.

    `visit` stands for a visitor's day: for all that one visitor did on the day of this event's `timestamp`.
    """

    event_id: str
    kind: str
    query: str
    query_key: str
    timestamp: int
    received: int
    doc_id: str | None = None
    query_id: str | None = None
    shown: tuple[str, ...] = ()
    position: int | None = None
    count: int = 1
    session: str | None = None
    user: str | None = None
    visit: str | None = None

    @property
    def visitor(self) -> str | None:
        """Who did it, as far as the log says: the user, else the session."""
        return self.user or self.session


def stored_event(event: ClickEvent, received: float) -> StoredEvent:
    """An event that passed its checks, in the form that is kept; without a time it happened when it came."""
    query = event.query or ""
    when = received if event.timestamp is None else event.timestamp
    visitor = event.user or event.session
    return StoredEvent(
        event_id=event.id,
        kind=event.kind,
        query=query,
        query_key=query_id(normalize_query(query)),
        timestamp=round(when * 1000.0),
        received=round(received * 1000.0),
        doc_id=event.doc_id,
        query_id=event.query_id,
        shown=event.shown[:MAX_SHOWN],
        position=event.position,
        count=event.count,
        session=event.session,
        user=event.user,
        visit=visit_of(visitor, when) if visitor else None,
    )


def visit_of(visitor: str, timestamp: float) -> str:
    """What stands for a visitor's day (UTC); `timestamp` in seconds since 1970.

    >>> visit_of("session 7", 86_400.0).split(":")[0]
    '1'
    """
    mark = hashlib.blake2b(visitor.encode(), digest_size=8).hexdigest()
    return f"{int(timestamp // DAY_S)}:{mark}"


class Written(msgspec.Struct, frozen=True):
    """What became of events: those that are new, those that were there (as they are kept), refused ids."""

    new: list[StoredEvent]
    known: list[StoredEvent]
    refused: list[str]


def write_events(client: OpenSearch, index: str, events: Sequence[StoredEvent]) -> Written:
    """Write events that aren't there yet; each id once in `events`.

    Raises:
        ServerUnavailable: OpenSearch didn't take them.
    """
    name = events_index(index)
    actions = [
        Action(op="create", index=name, id=event.event_id, source=msgspec.to_builtins(event))
        for event in events
    ]
    new: list[StoredEvent] = []
    known: list[str] = []
    refused: list[str] = []
    for event, item in zip(events, bulk(client, actions).items, strict=True):
        if item.ok:
            new.append(event)
        elif item.status == 409:
            known.append(event.event_id)
        elif item.retryable:
            raise ServerUnavailable(
                f"event {event.event_id!r} of {name!r} wasn't written: {item.reason}; do the same again when "
                "OpenSearch is well: what was written is counted once"
            )
        else:
            refused.append(event.event_id)
    return Written(new, read_events(client, index, known), refused)


def read_events(client: OpenSearch, index: str, ids: Sequence[str]) -> list[StoredEvent]:
    """The events with these ids, as they are kept; also those that no search finds yet."""
    if not ids:
        return []
    found = client.mget(index=events_index(index), body={"ids": list(ids)})
    return [msgspec.convert(doc["_source"], StoredEvent) for doc in found["docs"] if doc["found"]]


def texts_of(client: OpenSearch, index: str, query_ids: Iterable[str]) -> dict[str, str]:
    """The queries of searches whose impressions were recorded, by the search's id."""
    by_event = {impression_id(query_id): query_id for query_id in query_ids}
    return {by_event[event.event_id]: event.query for event in read_events(client, index, list(by_event))}


def known_documents(client: OpenSearch, index: str, ids: Collection[str]) -> set[str]:
    """Which of these ids (up to 10,000) documents of the search index have; routed ones are found too."""
    known: set[str] = set()
    missing = sorted(ids)
    while missing:
        body = {
            "size": len(missing),
            "query": {"ids": {"values": missing}},
            "_source": False,
            "track_total_hits": False,
        }
        hits = client.search(index=index, body=body)["hits"]["hits"]
        known.update(hit["_id"] for hit in hits)
        # Two indices of an alias, or two routings, may hold an id: they take the places of others.
        missing = [id for id in missing if id not in known] if len(hits) == len(missing) else []
    return known
