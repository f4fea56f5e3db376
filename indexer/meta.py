"""The `_meta` of an index's mapping, changed beside other writers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.indexer.errors import IndexNotOurs

_ROUNDS = 5


def read_meta(client: OpenSearch, index: str) -> dict[str, Any]:
    """The mapping's `_meta` of one index."""
    (entry,) = client.indices.get_mapping(index=index).values()
    found: dict[str, Any] = entry["mappings"].get("_meta") or {}
    return found


def change_meta(
    client: OpenSearch,
    index: str,
    change: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    *,
    properties: Mapping[str, Any] | None = None,
) -> None:
    """Change `_meta`, and read it back: put-mapping replaces it whole, and another may have put theirs.

    Args:
        index: one index.
        change: from what is there to what should be; where nothing is to be changed it gives the same.
        properties: fields that the mapping gets in the same request.

    Raises:
        IndexNotOurs: it doesn't stay.
    """
    for _ in range(_ROUNDS):
        known = read_meta(client, index)
        wanted = change(known)
        if wanted == known:
            return
        fields = {} if properties is None else {"properties": properties}
        client.indices.put_mapping(index=index, body={"_meta": wanted, **fields})
    raise IndexNotOurs(
        f"what was written into the mapping's _meta of the index {index!r} didn't stay: another program "
        "writes it too; stop that one, and do the same again"
    )
