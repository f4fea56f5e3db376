"""Paths of text fields against a mapping: what stands in `_source` under which name. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import msgspec

_FULL_TEXT = frozenset({"annotated_text", "match_only_text", "search_as_you_type", "semantic", "text"})
_PLAIN = frozenset(
    {
        "keyword",
        "wildcard",
        "version",
        "constant_keyword",
        "ip",
        "date",
        "date_nanos",
        "byte",
        "short",
        "integer",
        "long",
        "unsigned_long",
        "half_float",
        "float",
        "double",
        "scaled_float",
        "flat_object",
    }
)
_OBJECTS = ("object", "nested")


class Wrong(ValueError):
    """Why a path can't be embedded; the message is `what|remedy`."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


class Resolved(msgspec.Struct, frozen=True):
    """A path of a field in `_source`, and what is to be known of it ("" for nothing)."""

    path: str
    note: str = ""


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


def resolve(path: str, mappings: Mapping[str, Any]) -> Resolved:
    """The path in `_source` that a field's values stand under.

    Raises:
        Wrong: there is no such field, or it holds no text of its own.
    """
    properties = mappings.get("properties") or {}
    known = {leaf.path: leaf for leaf in leaves(properties)}
    leaf = known.get(path)
    if leaf is None:
        raise _unknown(path, known)
    note = ""
    if leaf.multi:
        parent = path.rpartition(".")[0]
        note, leaf = f"{path} is another way of indexing {parent}, which is taken", known[parent]
    elif leaf.type == "alias":
        real = known.get(str(leaf.mapping.get("path")))
        if real is None:
            raise Wrong(f"{path} is an alias of a field that isn't mapped", "name a field that is")
        note, leaf = f"{path} is another name of {real.path}, which is taken", real
    sources = copied_from(properties).get(leaf.path)
    if sources:
        raise Wrong(
            f"{leaf.path} is filled by copy_to, and isn't in _source",
            f"name its sources: {','.join(sources)}",
        )
    if not kept_in_source(leaf.path, mappings.get("_source") or {}):
        raise Wrong(f"{leaf.path} isn't kept in _source (includes, excludes)", "name fields that are")
    if leaf.type in _FULL_TEXT:
        return Resolved(leaf.path, note)
    if leaf.type in _PLAIN:
        return Resolved(
            leaf.path, note or f"{leaf.path} is a {leaf.type}: its values are embedded as they are"
        )
    raise Wrong(f"{leaf.path} is a {leaf.type}, which holds no text", "name fields of text")


def _unknown(path: str, known: Mapping[str, Leaf]) -> Wrong:
    below = [name for name, leaf in known.items() if name.startswith(f"{path}.") and not leaf.multi]
    if below:
        return Wrong(f"{path} is an object", f"name fields in it: {','.join(below[:10])}")
    plain = [leaf.path for leaf in known.values() if not leaf.multi]
    texts = [leaf.path for leaf in known.values() if leaf.type in _FULL_TEXT]
    near = get_close_matches(path, plain, n=3) or texts[:10]
    hint = f"is {' or '.join(near)} meant?" if near else "it maps no text"
    return Wrong(f"the mapping has no field {path}", hint)
