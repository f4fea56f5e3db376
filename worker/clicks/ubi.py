"""User Behavior Insights: documents of the indexes `ubi_queries` and `ubi_events`, schema 1.0 to 1.3.

https://github.com/o19s/ubi, https://docs.opensearch.org/latest/search-plugins/ubi/schemas/
"""

from __future__ import annotations

from typing import Any

from trifuse.worker.clicks import checks
from trifuse.worker.clicks.checks import Fault
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.fields import as_id, as_ids, dig, timestamp_of
from trifuse.worker.clicks.records import Record
from trifuse.worker.clicks.texts import QueryTexts

NAME = "ubi"

_QUERY_KEYS = frozenset({"user_query", "query_response_id", "query_response_hit_ids"})
_CLICKS = frozenset({"click", "click_through", "clickthrough", "item_click", "product_click", "result_click"})
_SEARCHES = frozenset({"on_search", "search"})
_IMPRESSIONS = frozenset({"impression", "item_impression", "product_impression", "result_impression"})


def matches(record: Record) -> bool:
    """Whether a record is one of UBI's."""
    return isinstance(record, dict) and ("action_name" in record or not _QUERY_KEYS.isdisjoint(record))


def text(record: Record) -> tuple[str, str] | None:
    """The id and the text of a query's record, or of the event of a search, whose message is the query."""
    if not isinstance(record, dict):
        return None
    query_id, query = as_id(record.get("query_id")), record.get("user_query")
    if "action_name" in record:
        query = record.get("message") if _action(record) in _SEARCHES else None
    return (query_id, query) if query_id and isinstance(query, str) else None


def event(record: Record, texts: QueryTexts) -> ClickEvent | Fault:
    """A click, or an impression; a query's record is the impression of the page that it found."""
    if not isinstance(record, dict):
        return Fault(checks.NOT_AN_EVENT)
    query_id = as_id(record.get("query_id"))
    when = timestamp_of(record.get("timestamp"))
    if isinstance(when, Fault):
        return when
    session = as_id(record.get("session_id") or dig(record, "event_attributes", "session_id"))
    user = as_id(record.get("user_id") or record.get("client_id"))
    if "action_name" not in record:
        query = record.get("user_query")
        if query_id is None or not isinstance(query, str):
            return Fault(None)  # a search that no event can refer to, or that no user typed
        page = as_ids(record.get("query_response_hit_ids") or record.get("query_response_objects_ids"))
        return ClickEvent(
            query=query,
            query_id=query_id,
            kind="impression",
            timestamp=when,
            session=session,
            user=user,
            shown=page,
        )
    action = _action(record)
    if action not in _CLICKS | _IMPRESSIONS:
        return Fault(None)
    if query_id is None:
        return Fault(checks.NO_QUERY_ID)
    return ClickEvent(
        query=texts.get(query_id),
        query_id=query_id,
        doc_id=_document(record),
        event_id=as_id(record.get("_id") or record.get("event_id")),
        kind="click" if action in _CLICKS else "impression",
        timestamp=when,
        position=_position(record),
        session=session,
        user=user,
    )


def _action(record: dict[str, Any]) -> str:
    return str(record["action_name"]).lower().replace("-", "_").replace(" ", "_")


def _document(record: dict[str, Any]) -> str | None:
    """The `_id` of the document: `object_id`, unless that is said to be another field's."""
    thing = dig(record, "event_attributes", "object")
    object_id = as_id(dig(record, "event_attributes", "object", "object_id"))
    internal = as_id(dig(record, "event_attributes", "object", "internal_id"))
    field = thing.get("object_id_field") if isinstance(thing, dict) else None
    return (object_id or internal) if field in (None, "", "_id") else (internal or object_id)


def _position(record: dict[str, Any]) -> int | None:
    ordinal = dig(record, "event_attributes", "position", "ordinal")
    return checks.position_or_none(ordinal.get("index") if isinstance(ordinal, dict) else ordinal)
