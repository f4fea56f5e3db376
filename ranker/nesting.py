"""How deep a body may be nested. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trifuse.ranker.errors import BodyError

MOST_LEVELS = 200
"""Of objects and lists in one another: what reads a body goes down them one by one, as Python's stack can."""

# Most of a body is texts and numbers, and to ask each whether it is a Mapping takes longer than the rest.
_LEAVES = frozenset({bool, float, int, str, type(None)})
_OBJECTS = (dict, Mapping)
_HOLDING = (dict, list, tuple, Mapping)


def check_nesting(what: str, value: Any) -> None:
    """Refuse what is nested deeper than anything here reads.

    Raises:
        BodyError: naming it.
    """
    level = [value]
    for _ in range(MOST_LEVELS + 1):
        level = [
            each
            for node in level
            for each in (node.values() if isinstance(node, _OBJECTS) else node)
            if type(each) not in _LEAVES and isinstance(each, _HOLDING)
        ]
        if not level:
            return
    raise too_deep(what)


def too_deep(what: str) -> BodyError:
    """The error for what is nested deeper."""
    return BodyError(f"{what} is nested more than {MOST_LEVELS} levels deep: flatten it")
