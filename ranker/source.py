"""Vectors and their marks kept out of `_source`, unless asked for by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trifuse.ranker.queries import items


def without_vectors(body: Mapping[str, Any], hidden: Sequence[str]) -> dict[str, Any]:
    """A body whose `_source` leaves out what trifuse put there, and nothing else that the user asked for.

    >>> without_vectors({"_source": ["title", "v"]}, ["v", "w"])["_source"]
    {'includes': ['title', 'v'], 'excludes': ['w']}
    """
    if body.get("_source") is False or not hidden:
        return dict(body)
    if "_source" not in body and "stored_fields" in body and "_source" not in items(body["stored_fields"]):
        # OpenSearch returns no _source beside stored fields: asking for a part of it would bring it back.
        return dict(body)
    wanted = body.get("_source", True)
    spec = (
        dict(wanted) if isinstance(wanted, Mapping) else {"includes": [] if wanted is True else items(wanted)}
    )
    includes = items(spec.pop("includes", spec.pop("include", None)))
    excludes = items(spec.pop("excludes", spec.pop("exclude", None)))
    named = {part for field in items(includes) for part in (field, str(field).partition(".")[0])}
    excludes += [field for field in hidden if field not in named and field not in excludes]
    merged: dict[str, Any] = {**spec, "excludes": excludes}
    if includes:
        merged = {**spec, "includes": includes, "excludes": excludes}
    return {**body, "_source": merged}


def joined_without_vectors(node: Any, hidden: Sequence[str], inside: str = "") -> Any:
    """A copy of a query whose inner hits of joined documents leave the vectors out.

    Nested documents have none: vectors are fields of whole documents.
    """
    if isinstance(node, str):
        return node
    if isinstance(node, Mapping):
        return {
            key: without_vectors(value, hidden)
            if key == "inner_hits" and inside in ("has_child", "has_parent") and isinstance(value, Mapping)
            else joined_without_vectors(value, hidden, key)
            for key, value in node.items()
        }
    if isinstance(node, list | tuple):
        return [joined_without_vectors(each, hidden) for each in node]
    return node
