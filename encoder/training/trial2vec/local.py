"""Texts whose entities are exchanged: what the local loss compares (section 3.3, equations 6 and 7)."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache

from trifuse.encoder.training.entities import EntitySource, Swapped, swap

_CHARS_PER_TOKEN = 3
"""What stands behind so many characters a token may be cut off before it is seen."""

_HELD = 1 << 17


class LocalPairs:
    """Makes them; the same text and variant always give the same, whatever the run's seed.

    So that the vectors of texts may be kept from one run to another.

    Args:
        source: of entities.
        tokens: of a text are seen; what stands behind them isn't exchanged.
    """

    def __init__(self, source: EntitySource, tokens: int) -> None:
        self._source = source
        self._reach = tokens * _CHARS_PER_TOKEN
        self._made: Callable[[str, int], Swapped | None] = lru_cache(maxsize=_HELD)(self._make)

    def __call__(self, text: str, variant: int) -> Swapped | None:
        """None where no entity is found that can be exchanged."""
        return self._made(text, variant)

    def _make(self, text: str, variant: int) -> Swapped | None:
        head = text if len(text) <= self._reach else text[: self._reach].rpartition(" ")[0]
        tail = text[len(head) :]
        found = swap(head, self._source, random.Random(f"{variant}/{text}"))  # noqa: S311
        return found and Swapped(text, found.positive + tail, found.negative + tail)
