"""Paths of text fields against a mapping: what stands in `_source` under which name. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import msgspec

from trifuse.indexer.mapped import Leaf, copied_from, kept_in_source, leaves

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
    }
)


class Wrong(ValueError):
    """Why a path can't be embedded, and what to do instead."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy


class Resolved(msgspec.Struct, frozen=True):
    """A path of a field in `_source`, and what is to be known of it ("" for nothing)."""

    path: str
    note: str = ""


def resolve(path: str, mappings: Mapping[str, Any]) -> Resolved:
    """The path in `_source` that a field's values stand under.

    Raises:
        Wrong: there is no such field, or it holds no text of its own.
    """
    properties = mappings.get("properties") or {}
    known = {leaf.path: leaf for leaf in leaves(properties)}
    leaf = known.get(path) or _in_flat(path, known)
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
    if leaf.type == "flat_object":
        raise Wrong(f"{leaf.path} is a flat_object", f"name paths in it: {leaf.path}.title")
    raise Wrong(f"{leaf.path} is a {leaf.type}, which holds no text", "name fields of text")


def _in_flat(path: str, known: Mapping[str, Leaf]) -> Leaf | None:
    """What a path names in a `flat_object`: a keyword, which isn't mapped by itself."""
    parts = path.split(".")
    above = (known.get(".".join(parts[:end])) for end in range(1, len(parts)))
    flat = any(leaf is not None and leaf.type == "flat_object" for leaf in above)
    return Leaf(path, {"type": "keyword"}) if flat else None


def _unknown(path: str, known: Mapping[str, Leaf]) -> Wrong:
    below = [name for name, leaf in known.items() if name.startswith(f"{path}.") and not leaf.multi]
    if below:
        return Wrong(f"{path} is an object", f"name fields in it: {','.join(below[:10])}")
    plain = [leaf.path for leaf in known.values() if not leaf.multi]
    texts = [leaf.path for leaf in known.values() if leaf.type in _FULL_TEXT]
    near = get_close_matches(path, plain, n=3) or texts[:10]
    hint = f"is {' or '.join(near)} meant?" if near else "it maps no text"
    return Wrong(f"the mapping has no field {path}", hint)
