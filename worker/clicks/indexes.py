"""The two indexes of a click log: its events, and its past queries."""

from __future__ import annotations

from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, serving_field, spaces_in_meta
from trifuse.indexer.ensure import make_index
from trifuse.indexer.mapping import index_body
from trifuse.indexer.names import name_fault
from trifuse.ranker.clicks.past_queries import queries_index, query_space
from trifuse.worker.clicks.errors import SearchIndexMissing

_KEYWORD: dict[str, Any] = {"type": "keyword"}
_TIME: dict[str, Any] = {"type": "date", "format": "epoch_millis"}
_NEWER = ("visit", "segment")
"""Fields that indexes of before 0.2 lack."""


def events_index(index: str) -> str:
    """The name of the index that holds an index's click events."""
    return f"trifuse-events-{index}"


def events_body() -> dict[str, Any]:
    """The body of an index of events, sorted by query, so that a rebuild reads it query by query.

    `query_key` is the past query's id, `query_id` the id of one search; `event_id` repeats `_id`, to sort by;
    `visit` stands for a visitor's day.
    `timestamp` is when it happened, `received` when it was first recorded: milliseconds since 1970.
    """
    body = index_body(
        {
            "event_id": _KEYWORD,
            "kind": _KEYWORD,
            "query": _KEYWORD,
            "query_key": _KEYWORD,
            "query_id": _KEYWORD,
            "doc_id": _KEYWORD,
            "shown": _KEYWORD,
            "position": {"type": "integer"},
            "count": {"type": "integer"},
            "session": _KEYWORD,
            "user": _KEYWORD,
            "visit": _KEYWORD,
            "timestamp": _TIME,
            "received": _TIME,
        }
    )
    body["settings"]["index"]["sort.field"] = ["query_key", "received", "event_id"]
    body["settings"]["index"]["sort.order"] = ["asc", "asc", "asc"]
    return body


def queries_body(space: Space | None) -> dict[str, Any]:
    """The body of an index of past queries; without a space they have no vectors."""
    properties = {
        "text": _KEYWORD,
        "normalized": _KEYWORD,
        "frequency": {"type": "long"},
        "segment": _KEYWORD,
        "last_seen": _TIME,
    }
    return index_body(properties, spaces={VECTOR_FIELD: space} if space else None)


def ensure(client: OpenSearch, name: str, body: dict[str, Any]) -> None:
    """Make an index of ours where there is none; one of an older version gets the fields that it lacks."""
    if make_index(client, name, body):
        return
    (found,) = client.indices.get_mapping(index=name).values()
    known = found["mappings"].get("properties", {})
    wanted = body["mappings"]["properties"]
    lacking = {key: wanted[key] for key in _NEWER if key in wanted and key not in known}
    if lacking:
        client.indices.put_mapping(index=name, body={"properties": lacking})


def encoder_of(client: OpenSearch, index: str) -> EncoderSpace | None:
    """The encoder that a search index (or alias) is embedded by; None where it has no vectors.

    Raises:
        SearchIndexMissing: there is no such index, or the name stands for several.
    """
    # By a pattern the log's own indexes would be several, too.
    if fault := name_fault(index):
        raise SearchIndexMissing(f"clicks belong to one index or alias, and {index!r} is none: {fault}")
    for meta in _metas(client, index):
        serving = serving_field(meta)
        if serving is not None:
            return spaces_in_meta(meta)[serving].encoder
    return None


def ensure_log(client: OpenSearch, index: str) -> dict[str, Space]:
    """Make the indexes of an index's click log where they are missing.

    Returns:
        the vector fields of the past queries, and their spaces: none, one, or two while the index is being
        embedded anew.

    Raises:
        SearchIndexMissing: there is no such search index.
    """
    encoder = encoder_of(client, index)
    ensure(client, events_index(index), events_body())
    ensure(client, queries_index(index), queries_body(query_space(encoder) if encoder else None))
    return spaces_in_meta(_metas(client, queries_index(index))[0])


def drop_other_space(client: OpenSearch, index: str) -> bool:
    """Delete the past queries of an index where none of their vectors are of the index's encoder.

    Returns:
        whether it did; `ensure_log` makes the index again, and a rebuild fills it.
    """
    encoder = encoder_of(client, index)
    name = queries_index(index)
    if not client.indices.exists(index=name):
        return False
    known = list(spaces_in_meta(_metas(client, name)[0]).values())
    if known == [] if encoder is None else query_space(encoder) in known:
        return False
    client.indices.delete(index=name)
    return True


def _metas(client: OpenSearch, index: str) -> list[dict[str, Any] | None]:
    try:
        found = client.indices.get_mapping(index=index)
    except NotFoundError:
        raise SearchIndexMissing(
            f"there is no index {index!r} that clicks could belong to: load it first (trifuse load), "
            "or check the name (--index)"
        ) from None
    return [found[name]["mappings"].get("_meta") for name in sorted(found)]
