"""The daily cap of a visitor, found in the events: what a rebuild must know before it counts query by query.

A visitor's clicks of a day count in the order in which they came, until there are as many as the cap allows.
They are of many queries; so for the few visitors with more events than that, it is looked up where they
reached the cap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.worker.clicks.indexes import events_index
from trifuse.worker.clicks.items import Item, items_of
from trifuse.worker.clicks.store import StoredEvent

_PARTS_OF = 5000
"""Visitors' days over the cap that are read together, about."""

_PAGE = 1000

Place = tuple[int, str]
"""Where an event stands in the order of their coming: `received`, and `event_id` among those of one batch."""


class Caps(msgspec.Struct, frozen=True):
    """Where visitors' days reached the cap.

    Args:
        clicks, pages: `visit` of a visitor's day to the place of its last event that counts.
    """

    clicks: dict[str, Place]
    pages: dict[str, Place]

    def allows(self, event: StoredEvent, item: Item) -> bool:
        """Whether an item of an event came before its visitor had reached the cap."""
        if event.visit is None:
            return True
        last = (self.clicks if item.clicks else self.pages).get(event.visit)
        return last is None or place_of(event) <= last


def place_of(event: StoredEvent) -> Place:
    """Where an event stands in the order of their coming."""
    return event.received, event.event_id


def read_caps(client: OpenSearch, index: str, max_a_day: int, curve: Sequence[float]) -> Caps:
    """Where visitors reached the cap, in those events of a search index that searches find."""
    caps = Caps({}, {})
    for visit in _busy(client, index, max_a_day):
        clicks: set[tuple[str, str]] = set()
        pages: set[str] = set()
        for event in _events(client, index, visit):
            for item in items_of(event, curve):
                if item.clicks:
                    clicks.add((item.query, item.docs[0]))
                else:
                    pages.add(item.query)
            for seen, reached in ((clicks, caps.clicks), (pages, caps.pages)):
                if len(seen) == max_a_day:
                    reached.setdefault(visit, place_of(event))
            if visit in caps.clicks and visit in caps.pages:
                break
    return caps


def _busy(client: OpenSearch, index: str, max_a_day: int) -> Iterator[str]:
    """Visitors' days with more events than the cap allows."""
    name = events_index(index)
    known = {"exists": {"field": "visit"}}
    events = client.count(index=name, body={"query": known})["count"]
    parts = 1 + events // ((max_a_day + 1) * _PARTS_OF)  # a part has no more of them than twice _PARTS_OF
    for part in range(parts):
        terms = {
            "field": "visit",
            "min_doc_count": max_a_day + 1,
            "include": {"partition": part, "num_partitions": parts},
            "size": 4 * _PARTS_OF,
        }
        body = {"size": 0, "aggs": {"visits": {"terms": terms}}, "track_total_hits": False}
        for bucket in client.search(index=name, body=body)["aggregations"]["visits"]["buckets"]:
            yield bucket["key"]


def _events(client: OpenSearch, index: str, visit: str) -> Iterator[StoredEvent]:
    """What a visitor did on a day, in the order of its coming."""
    body: dict[str, Any] = {
        "size": _PAGE,
        "query": {"term": {"visit": visit}},
        "sort": [{"received": "asc"}, {"event_id": "asc"}],
        "track_total_hits": False,
    }
    while hits := client.search(index=events_index(index), body=body)["hits"]["hits"]:
        for hit in hits:
            yield msgspec.convert(hit["_source"], StoredEvent)
        body["search_after"] = hits[-1]["sort"]
