"""The `_meta` of an index's mapping, changed beside other writers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.indexer.errors import IndexNotOurs

_ROUNDS = 5


def change_meta(
    client: OpenSearch, index: str, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> None:
    """Change `_meta`, and read it back: put-mapping replaces it whole, and another may have put theirs.

    Args:
        index: a concrete index.
        change: from what is there to what should be; where nothing is to be changed it gives the same.

    Raises:
        IndexNotOurs: it doesn't stay.
    """
    for _ in range(_ROUNDS):
        known = client.indices.get_mapping(index=index)[index]["mappings"].get("_meta") or {}
        wanted = change(known)
        if wanted == known:
            return
        client.indices.put_mapping(index=index, body={"_meta": wanted})
    raise IndexNotOurs(
        f"what was written into the mapping's _meta of the index {index!r} didn't stay: another program "
        "writes it too; stop that one, and do the same again"
    )
