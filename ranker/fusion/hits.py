"""What one leg brought."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from operator import neg

from trifuse.ranker.types import Key


@dataclass(frozen=True)
class LegHits:
    """A leg's documents, best first: by score, then by `_id`. No document is there twice."""

    keys: tuple[Key, ...] = ()
    scores: tuple[float, ...] = ()

    @classmethod
    def of(cls, pairs: Iterable[tuple[Key, float | None]], *, depth: int | None = None) -> LegHits:
        """Order hits, count a repeated one once with its best score, leave out what has no finite score."""
        best: dict[Key, float] = {}
        for key, score in pairs:
            if score is not None and math.isfinite(score):
                best[key] = max(score, best.get(key, score))
        ordered = sorted(best, key=lambda key: (-best[key], key))[:depth]
        return cls(tuple(ordered), tuple(best[key] for key in ordered))

    def reaching(self, floor: float) -> LegHits:
        """The hits whose score isn't below the floor."""
        count = bisect_right(self.scores, -floor, key=neg)
        return self if count == len(self.scores) else LegHits(self.keys[:count], self.scores[:count])
