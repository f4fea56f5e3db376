"""What training asks of a dictionary: which entities a text names, and what they may be replaced by."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Entity(NamedTuple):
    """A mention of something that has a name.

    Args:
        start, end: of the mention: `text[start:end]`.
        name: the mention as the text spells it.
        concept: the id of what is meant; mentions by other names of the same thing have the same one.
    """

    start: int
    end: int
    name: str
    concept: str


class EntitySource(Protocol):
    """Finds the entities of texts, and knows their kin. The same calls give the same answers."""

    def find(self, text: str) -> list[Entity]:
        """The mentions in a text, from its beginning on; no two of them overlap."""
        ...

    def canonical(self, entity: Entity) -> str | None:
        """The preferred name of what is meant; None where it isn't known."""
        ...

    def siblings(self, entity: Entity) -> Sequence[str]:
        """Names of similar things: other than it, under the same parent; none where none are known."""
        ...

    def dissimilar(self, entity: Entity, rng: random.Random) -> str | None:
        """The name of a thing of the same kind that has nothing to do with it; None where there is none."""
        ...
