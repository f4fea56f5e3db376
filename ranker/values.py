"""Checks of single values of settings: what is out of range is named, with what is expected. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TypeGuard

from trifuse.ranker.errors import ProfileError

MAX_HITS = 10_000
"""`index.max_result_window`'s default: OpenSearch refuses to find more."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a finite number."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def check_whole(name: str, value: object, *, lowest: int = 1) -> None:
    """A whole number up to `MAX_HITS`.

    Raises:
        ProfileError: it is none.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= MAX_HITS:
        raise ProfileError(f"{name} is {value!r}: give a whole number from {lowest} to {MAX_HITS}")


def check_one_of(name: str, value: object, names: Collection[str]) -> None:
    """One of some names.

    Raises:
        ProfileError: it is none.
    """
    if not isinstance(value, str) or value not in names:
        raise ProfileError(f"{name} is {value!r}: it is one of {', '.join(names)}")
