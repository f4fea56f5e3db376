"""The index `trifuse-state`: small documents that must outlive a process, one mapping for all kinds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.indexer.ensure import make_index
from trifuse.indexer.mapping import index_body
from trifuse.indexer.retry import Retry, retrying

STATE_INDEX = "trifuse-state"

_RETRY = Retry(retries=3)
"""A few seconds: a job of hours isn't ended by one moment without room, and an outage is still said soon."""

_KEYWORD = {"type": "keyword"}


def state_body() -> dict[str, Any]:
    """The body of the state index; `value` is kept as it is, and not searched."""
    return index_body(
        {
            "kind": _KEYWORD,
            "index": _KEYWORD,
            "at": {"type": "date"},
            "value": {"type": "object", "enabled": False},
        }
    )


def get_state(client: OpenSearch, kind: str, key: str) -> dict[str, Any] | None:
    """The value kept under that kind and key; None where there is none.

    Raises:
        ServerUnavailable: OpenSearch has no room for it, or doesn't answer.
    """
    try:
        found = retrying(
            lambda: client.get(index=STATE_INDEX, id=f"{kind}:{key}"), what=_what(kind), retry=_RETRY
        )
    except NotFoundError:
        return None
    value: dict[str, Any] = found["_source"]["value"]
    return value


def put_state(client: OpenSearch, kind: str, key: str, value: dict[str, Any], *, index: str) -> None:
    """Keep a value, in the place of an older one; it is on disk when this returns.

    Args:
        kind: what is kept: `refresh`, `cursor`.
        key: of what; the UUID of an index where the value must not pass to a later index of the same name.
        index: the index that it is about, for people who look.

    Raises:
        ServerUnavailable: OpenSearch has no room for it, or doesn't answer.
    """
    make_index(client, STATE_INDEX, state_body())
    body = {"kind": kind, "index": index, "at": datetime.now(UTC).isoformat(), "value": value}
    retrying(
        lambda: client.index(index=STATE_INDEX, id=f"{kind}:{key}", body=body),
        what=_what(kind),
        retry=_RETRY,
    )


def delete_state(client: OpenSearch, kind: str, key: str) -> None:
    """Forget a value, if it is there."""
    try:
        client.delete(index=STATE_INDEX, id=f"{kind}:{key}")
    except NotFoundError:
        return


def _what(kind: str) -> str:
    return f"the {kind} kept in the index {STATE_INDEX!r}"
