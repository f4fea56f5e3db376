"""What is wrong with an event, in one of a few words: the reasons that a report counts."""

from __future__ import annotations

import msgspec

from trifuse.ranker.clicks.past_queries import MAX_QUERY_CHARS, normalize_query
from trifuse.worker.clicks.events import MAX_ID_BYTES, ClickEvent

NOT_AN_EVENT = "not an event"
UNREADABLE = "unreadable characters"
NO_QUERY = "no query text"
NO_QUERY_ID = "no query id"
UNKNOWN_QUERY_ID = "unknown query id"
QUERY_TOO_LONG = f"query longer than {MAX_QUERY_CHARS} characters"
NO_DOCUMENT = "no document id"
UNKNOWN_DOCUMENT = "unknown document"
ID_TOO_LONG = f"an id longer than {MAX_ID_BYTES} bytes"
BAD_TIME = "unreadable timestamp"
IN_THE_FUTURE = "timestamp in the future"
BEFORE_1970 = "timestamp before 1970"
DUPLICATE = "duplicate event"
REPEATED = "clicked already by the same visitor that day"
OVER_CAP = "over the daily cap of one visitor"
NOT_WRITTEN = "refused by OpenSearch"

NO_FAULTS = frozenset({DUPLICATE, REPEATED, OVER_CAP})
"""Reasons not to count an event that is as it should be."""

MAX_AHEAD_S = 86_400.0
"""How far a clock may be ahead: a time that lost its zone is off by up to 14 hours."""

MAX_COUNT = 10**9
MAX_POSITION = 10**6
MAX_SHOWN = 1000


class Fault(msgspec.Struct, frozen=True):
    """A record of a log that gives no event.

    Args:
        reason: why not; None where the record is no concern of ours (another kind of action).
    """

    reason: str | None


def fault(event: ClickEvent, now: float) -> str | None:
    """Why this event can't be taken, or None.

    A missing impression is no fault, nor is a missing position: neither is needed to count a click.
    """
    try:
        msgspec.json.encode(event)
    except UnicodeEncodeError:
        return UNREADABLE
    if event.query is None:
        return NO_QUERY if event.query_id is None else UNKNOWN_QUERY_ID
    if len(event.query) > MAX_QUERY_CHARS:
        return QUERY_TOO_LONG
    normalized = normalize_query(event.query)
    if not normalized:
        return NO_QUERY
    if len(normalized) > MAX_QUERY_CHARS:  # composing one character can give eighteen
        return QUERY_TOO_LONG
    if event.kind == "click" and not event.doc_id:
        return NO_DOCUMENT
    ids = (event.doc_id, event.query_id, event.session, event.user, *event.shown[:MAX_SHOWN])
    if not all(value is None or is_id(value) for value in ids):
        return ID_TOO_LONG
    if event.timestamp is not None and event.timestamp > now + MAX_AHEAD_S:
        return IN_THE_FUTURE
    if event.timestamp is not None and event.timestamp < 0:
        return BEFORE_1970
    if not 1 <= event.count <= MAX_COUNT:
        return NOT_AN_EVENT
    return None


def is_id(value: str) -> bool:
    """Whether OpenSearch takes this as an id: nothing with half a surrogate pair."""
    try:
        return len(value.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False


def position_or_none(value: object) -> int | None:
    """A rank from 1, or None where the log holds something else."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_POSITION:
        return None
    return value
