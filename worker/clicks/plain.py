"""Plain JSON lines, for logs of one's own.

    {"query": "asthma in children", "doc_id": "NCT00000001", "timestamp": "2026-03-01T10:00:00Z"}

Needed: `query` (what the user typed; or the `query_id` of a search whose impression was recorded) and
`doc_id` (the clicked document's `_id`). Optional: `timestamp` (ISO 8601, or seconds or milliseconds since
1970; without it, the time of loading), `event_id` (the same id is counted once; without it, the same
content), `query_id` (of this one search), `session`, `user`, `position` (from 1; without it, that in
`shown`), `count` (clicks that the line stands for), `kind` (`click`, or `impression` for a document, or for a
page `shown`: a list of ids).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.fields import as_id, as_ids, timestamp_of
from trifuse.worker.clicks.records import Record
from trifuse.worker.clicks.texts import QueryTexts

NAME = "jsonl"

_FIELDS = frozenset(ClickEvent.__struct_fields__) | {"_id"}


def matches(record: Record) -> bool:
    """Whether a record has the fields of an event."""
    if not isinstance(record, dict):
        return False
    return ("query" in record or "query_id" in record) and ("doc_id" in record or "shown" in record)


def text(record: Record) -> tuple[str, str] | None:
    """No queries stand apart from their events."""
    return None


def unknown(record: Record) -> Iterator[str]:
    """The fields of a line that no event has, and `position` where its value is no rank."""
    if not isinstance(record, dict):
        return
    yield from (name for name in record if name not in _FIELDS)
    if (given := record.get("position")) is not None and checks.position_or_none(given) is None:
        yield "position"


def event(record: Record, texts: QueryTexts | None = None) -> ClickEvent | Fault:
    """The event that a line describes."""
    if not isinstance(record, dict):
        return Fault(checks.NOT_AN_EVENT)
    return event_of(record)


def event_of(record: dict[str, Any]) -> ClickEvent | Fault:
    """The event that an object describes; also what producers of live events send."""
    when = timestamp_of(record.get("timestamp"))
    if isinstance(when, Fault):
        return when
    kind, query, count = record.get("kind", "click"), record.get("query"), record.get("count", 1)
    if kind not in ("click", "impression"):
        return Fault(None)
    if not (query is None or isinstance(query, str)) or isinstance(count, bool) or not isinstance(count, int):
        return Fault(checks.NOT_AN_EVENT)
    doc_id, shown = as_id(record.get("doc_id")), as_ids(record.get("shown"))
    position = checks.position_or_none(record.get("position"))
    if position is None and doc_id in shown:
        position = shown.index(doc_id) + 1
    return ClickEvent(
        query=query,
        doc_id=doc_id,
        query_id=as_id(record.get("query_id")),
        event_id=as_id(record.get("event_id") or record.get("_id")),
        kind="click" if kind == "click" else "impression",
        count=count,
        timestamp=when,
        position=position,
        session=as_id(record.get("session")),
        user=as_id(record.get("user")),
        shown=shown,
    )
