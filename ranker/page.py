"""One page of the ranking: its documents fetched by the user's own query, put back into our order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trifuse.ranker.body import UserBody
from trifuse.ranker.errors import BodyError
from trifuse.ranker.source import joined_without_vectors, without_vectors
from trifuse.ranker.types import Clause, Key

_SHOW_THE_QUERY = ("explain", "highlight", "script_fields", "search_pipeline")
"""Keys of a page by which hits may show what the query makes of them."""

_SHOWN = frozenset({"_name", "inner_hits", "percolate", "wrapper"})
"""Keys of a query that say something in its hits, or may have such keys in what can't be read."""


def shows_query(user: UserBody, query: Clause | None) -> bool:
    """Whether a hit may show anything of the query; else a page is fetched without it, which is faster.

    >>> from trifuse.ranker.body import read_body
    >>> shows_query(read_body({"highlight": {"fields": {"title": {}}}}, depth=10), {"match": {"title": "a"}})
    True
    >>> shows_query(read_body({"_source": ["title"]}, depth=10), {"match": {"title": "a"}})
    False
    """
    return any(user.page.get(key) for key in _SHOW_THE_QUERY) or _says_something(query)


def _says_something(node: Any) -> bool:
    if isinstance(node, Mapping):
        return not _SHOWN.isdisjoint(node) or any(map(_says_something, node.values()))
    return isinstance(node, list | tuple) and any(map(_says_something, node))


def page_body(
    user: UserBody, query: Clause | None, keys: Sequence[Key], hidden: Sequence[str], *, size: int
) -> dict[str, Any]:
    """The search that fetches a page; documents with the same ids and other routings come along.

    The user's query is optional in it: it highlights and explains where it matches, and a document that
    another leg brought is fetched as well.
    """
    found: Clause = {"bool": {"filter": [_ids(keys)]}}
    if query is not None:
        found["bool"]["should"] = [joined_without_vectors(query, hidden)]
    body = {**user.page, "size": size, "query": found, "track_total_hits": False}
    return without_vectors(body, hidden)


def _ids(keys: Sequence[Key]) -> Clause:
    by_index: dict[str, list[str]] = {}
    for key in keys:
        by_index.setdefault(key.index_name, []).append(key.id)
    groups: list[Clause] = [
        {"bool": {"filter": [{"term": {"_index": index}}, {"ids": {"values": ids}}]}}
        for index, ids in by_index.items()
    ]
    return groups[0] if len(groups) == 1 else {"bool": {"should": groups, "minimum_should_match": 1}}


def key_of(hit: Mapping[str, Any]) -> Key:
    """The document that a hit is of."""
    return Key(hit["_id"], hit["_index"], hit.get("_routing") or "")


def group_values(hits: Sequence[Mapping[str, Any]], field: str) -> dict[Key, Any]:
    """The value by which each hit is grouped; None where it has none.

    Raises:
        BodyError: a document with several values is in no one group.
    """
    values: dict[Key, Any] = {}
    for hit in hits:
        found = (hit.get("fields") or {}).get(field) or [None]
        if len(found) > 1:
            raise BodyError(
                f"can't collapse on {field!r}: document {hit['_id']!r} has {len(found)} values; "
                "collapse on a field with one value"
            )
        values[key_of(hit)] = found[0]
    return values


def collapse(keys: Sequence[Key], groups: Mapping[Key, Any]) -> list[int]:
    """The places of the best of each group; as in OpenSearch, documents without a value are one group."""
    best: dict[Any, int] = {}
    for place, key in enumerate(keys):
        best.setdefault(groups[key], place)
    return list(best.values())
