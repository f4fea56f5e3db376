"""Which names an index or alias can't have, known without asking OpenSearch. Pure functions."""

from __future__ import annotations

_FORBIDDEN = frozenset('\\/*?"<>| ,#\0')
_LONGEST = 255


def name_fault(name: str) -> str | None:
    """Why nothing has this name; None where an index or an alias may. Patterns and lists are no names.

    What is left to OpenSearch: an index, unlike an alias, has no upper case.

    >>> name_fault("trials-*")
    "it holds '*'"
    """
    if not name:
        return "it is empty"
    for character in name:
        if character in _FORBIDDEN or not character.isprintable():
            return f"it holds {character!r}"
    if name[0] in "-_+" or name in (".", ".."):
        return f"it starts with {name[0]!r}"
    size = len(name.encode())
    return f"it has {size} bytes, and {_LONGEST} are the most" if size > _LONGEST else None
