"""Which names an index or alias can't have, and which ids a document, without asking OpenSearch. Pure."""

from __future__ import annotations

_FORBIDDEN = frozenset('\\/*?"<>| ,#\0')
_LONGEST = 255
LONGEST_ID = 512
"""Bytes of a document's id."""


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


def may_be_id(text: str) -> bool:
    """Whether a document may have this id: it is text of 1 to 512 bytes; others are refused by OpenSearch.

    >>> may_be_id("NCT00000102"), may_be_id(""), may_be_id("x" * 513), may_be_id("\\udcff")
    (True, False, False, False)
    """
    try:
        return 1 <= len(text.encode()) <= LONGEST_ID
    except UnicodeEncodeError:  # a lone surrogate
        return False
