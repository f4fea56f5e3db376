"""The fields that sentences repeat from their parents, mapped as the owner has them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.indexer.errors import IndexNotOurs

_OURS = frozenset(
    ("parent_id", "parent_routing", "section", "item", "ordinal", "start", "end", "text", MARKS, VECTOR_FIELD)
)
_UNFIT = {
    "join": "it joins documents of one index",
    "object": "it is an object: name the fields in it",
    "nested": "it is an object: name the fields in it",
    "percolator": "it holds queries",
}


class FilterFields(msgspec.Struct, frozen=True):
    """Filter fields as a mapping has them.

    Args:
        properties: their mapping, to be merged into the one of the sentences.
        values: the paths in `_source` that their values stand at.
    """

    properties: dict[str, Any]
    values: tuple[str, ...]


def filter_fields(properties: Mapping[str, Any], filters: Iterable[str], *, index: str) -> FilterFields:
    """The part of an index's mapping that these fields need, nested in the same objects.

    Raises:
        IndexNotOurs: a field isn't mapped, can't be repeated, or has the name of one of ours.
    """
    found: dict[str, Any] = {}
    values: dict[str, None] = {}
    for path in filters:
        target = _add(properties, path, found, index=index)
        if target != path:  # another name of a field
            target = _add(properties, target, found, index=index)
        values[target] = None
    return FilterFields(found, tuple(values))


def _add(properties: Mapping[str, Any], path: str, found: dict[str, Any], *, index: str) -> str:
    """Put the mapping of a field where it belongs; the path that its values stand at."""
    parts = path.split(".")
    if parts[0] in _OURS:
        raise _unfit(path, index, f"sentences have a field {parts[0]!r} of their own")
    level, target = properties, found
    for number, name in enumerate(parts):
        mapping = level.get(name)
        if mapping is None:
            raise _unfit(
                path, index, f"its mapping has no such field; it has {', '.join(sorted(level)) or 'none'}"
            )
        here = ".".join(parts[: number + 1])
        rest = parts[number + 1 :]
        if rest and "properties" in mapping:
            outer = {key: value for key, value in mapping.items() if key != "properties"}
            target = target.setdefault(name, {**outer, "properties": {}})["properties"]
            level = mapping["properties"]
            continue
        if rest and (len(rest) > 1 or rest[0] not in (mapping.get("fields") or {})):
            raise _unfit(path, index, f"its mapping has no field {'.'.join(rest)!r} in {here!r}")
        kind = mapping.get("type", "object")
        if kind in _UNFIT or kind.endswith("_vector"):
            raise _unfit(path, index, _UNFIT.get(kind, "it holds a vector"))
        target[name] = {key: value for key, value in mapping.items() if key != "copy_to"}
        return str(mapping["path"]) if kind == "alias" else here
    return path


def _unfit(path: str, index: str, why: str) -> IndexNotOurs:
    return IndexNotOurs(
        f"the field {path!r} of the index {index!r} can't filter sentences: {why}; name others (--filters)"
    )
