"""A concept: one thing, all its names, and what it is a case of."""

from __future__ import annotations

from typing import NamedTuple


class Concept(NamedTuple):
    """One thing that texts name.

    Args:
        id: unique among the concepts of a dictionary.
        kind: what it may be replaced by is of the same kind: `condition`, `intervention`, a semantic type.
        names: at least one, the preferred one first.
        parents: ids of the next wider concepts; they needn't be in the dictionary themselves.
        siblings: ids of similar concepts, besides those that have a parent in common with it.
    """

    id: str
    kind: str
    names: tuple[str, ...]
    parents: frozenset[str] = frozenset()
    siblings: frozenset[str] = frozenset()
