"""The fields of any mapping: which there are, and which of them `_source` keeps. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

import msgspec

_OBJECTS = ("object", "nested")


class Leaf(msgspec.Struct, frozen=True):
    """A field that holds values.

    Args:
        multi: whether it is another way of indexing its parent.
    """

    path: str
    mapping: Mapping[str, Any]
    multi: bool = False

    @property
    def type(self) -> str:
        """Its type."""
        return str(self.mapping.get("type", "object"))


def leaves(properties: Mapping[str, Any], prefix: str = "") -> Iterator[Leaf]:
    """Every field of a mapping that holds values, with multi-fields."""
    for name, mapping in properties.items():
        path = prefix + name
        if "properties" in mapping:
            yield from leaves(mapping["properties"], f"{path}.")
        elif mapping.get("type", "object") not in _OBJECTS:
            yield Leaf(path, mapping)
            for sub, below in (mapping.get("fields") or {}).items():
                yield Leaf(f"{path}.{sub}", below, multi=True)


def count_fields(properties: Mapping[str, Any]) -> int:
    """The fields that OpenSearch counts against `index.mapping.total_fields.limit`: objects too."""
    return sum(
        1 + len(mapping.get("fields") or {}) + count_fields(mapping.get("properties") or {})
        for mapping in properties.values()
    )


def copied_from(properties: Mapping[str, Any]) -> dict[str, list[str]]:
    """The fields that `copy_to` fills, each with the fields that it is filled from."""
    found: dict[str, list[str]] = {}
    for leaf in leaves(properties):
        named = leaf.mapping.get("copy_to") or []
        for target in [named] if isinstance(named, str) else named:
            found.setdefault(target, []).append(leaf.path)
    return found


def kept_in_source(path: str, source: Mapping[str, Any]) -> bool:
    """Whether the mapping's `_source` keeps a field.

    >>> kept_in_source("a.b", {"excludes": ["a.*"]})
    False
    """
    includes, excludes = source.get("includes") or [], source.get("excludes") or []
    return (not includes or _any(path, includes)) and not _any(path, excludes)


def _any(path: str, patterns: list[str]) -> bool:
    # A pattern that names an object covers what is in it.
    parts = path.split(".")
    heads = [".".join(parts[: end + 1]) for end in range(len(parts))]
    return any(fnmatchcase(head, pattern) for head in heads for pattern in patterns)


def lost_fields(mappings: Mapping[str, Any]) -> list[str]:
    """The fields that are searched and that a filtered `_source` lacks: none can be made again from it.

    What `copy_to` fills is made again from its sources.
    """
    properties, source = mappings.get("properties") or {}, mappings.get("_source") or {}
    copied = copied_from(properties)
    return [
        leaf.path
        for leaf in leaves(properties)
        if not leaf.multi
        and leaf.type != "alias"
        and leaf.path not in copied
        and not kept_in_source(leaf.path, source)
    ]
