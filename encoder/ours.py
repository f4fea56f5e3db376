"""Our part of a mapping's `_meta`, the object `trifuse`: read, or changed with the rest kept. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OURS = "trifuse"


def ours_in(meta: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Our part; empty where there is none, or an owner keeps something else under its name."""
    found = (meta or {}).get(_OURS)
    return found if isinstance(found, Mapping) else {}


def meta_with(meta: Mapping[str, Any] | None, key: str, value: Any) -> dict[str, Any]:
    """`_meta` with one entry of ours set.

    >>> meta_with({"owner": "b"}, "sentences", "x")
    {'owner': 'b', 'trifuse': {'sentences': 'x'}}
    """
    return {**(meta or {}), _OURS: {**ours_in(meta), key: value}}


def meta_without(meta: Mapping[str, Any], key: str) -> dict[str, Any]:
    """`_meta` without one entry of ours."""
    return {**meta, _OURS: {name: value for name, value in ours_in(meta).items() if name != key}}
