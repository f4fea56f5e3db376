"""One event of the click log, in the one form that every reader makes and the event index keeps."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

MAX_ID_BYTES = 512
"""OpenSearch's limit on an `_id`."""


class ClickEvent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A click on a document that a query had found, or an impression: a page of results that was shown.

    Args:
        query: the text as the user typed it; None where only `query_id` says which query it was.
        doc_id: the clicked document's `_id`; None in an impression of a whole page.
        query_id: the id of this one search, unique over the log.
        event_id: the log's own id; without one, the event's content is its identity.
        kind: `click` or `impression`.
        count: how many clicks this record stands for (logs that were aggregated before).
        timestamp: seconds since 1970; None takes the time at which the event is first recorded.
        position: rank of the document on the page, from 1.
        session: the visit that it belongs to.
        user: who or what made it.
        shown: the ids on the page in their order; position is index plus one.
    """

    query: str | None = None
    doc_id: str | None = None
    query_id: str | None = None
    event_id: str | None = None
    kind: Literal["click", "impression"] = "click"
    count: int = 1
    timestamp: float | None = None
    position: int | None = None
    session: str | None = None
    user: str | None = None
    shown: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The event's `_id` in the event index: the same event has the same id however often it arrives."""
        if not self.event_id and self.kind == "impression" and self.query_id and self.doc_id is None:
            return impression_id(self.query_id)
        if not self.event_id:
            return _digest(msgspec.json.encode(self))
        if len(self.event_id.encode()) <= MAX_ID_BYTES:
            return self.event_id
        return _digest(self.event_id.encode())


def impression_id(query_id: str) -> str:
    """The id of the event that a search was shown a page: by it the search's query is found again."""
    return f"query:{query_id}" if len(query_id.encode()) < MAX_ID_BYTES - 8 else _digest(query_id.encode())


def _digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()
