"""Our part of a mapping's `_meta`, the object `trifuse`: read, or changed with the rest kept. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OURS = "trifuse"


def ours_in(meta: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Our part; empty where there is none, or an owner keeps something else under its name."""
    found = (meta or {}).get(_OURS)
    return found if isinstance(found, Mapping) else {}


def sentences_in(meta: Mapping[str, Any] | None) -> str | None:
    """The index of an index's sentences; None where it has none."""
    known: str | None = ours_in(meta).get("sentences")
    return known


def origin_in(meta: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """What an index of sentences says of those that they are of: its name, `index`, and more; None elsewhere.

    >>> origin_in({"trifuse": {"of": {"index": "notes"}}})
    {'index': 'notes'}
    """
    found = ours_in(meta).get("of")
    return found if isinstance(found, Mapping) and "index" in found else None


def meta_with(meta: Mapping[str, Any] | None, key: str, value: Any) -> dict[str, Any]:
    """`_meta` with one entry of ours set.

    >>> meta_with({"owner": "b"}, "sentences", "x")
    {'owner': 'b', 'trifuse': {'sentences': 'x'}}
    """
    return {**(meta or {}), _OURS: {**ours_in(meta), key: value}}


def meta_without(meta: Mapping[str, Any], key: str) -> dict[str, Any]:
    """`_meta` without one entry of ours."""
    return {**meta, _OURS: {name: value for name, value in ours_in(meta).items() if name != key}}
