"""What a combination is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trifuse.ranker.fusion.normalization import Normalization
from trifuse.ranker.types import Floats, Ranks


@dataclass(frozen=True)
class Table:
    """Documents by legs.

    Args:
        normalized: (…, documents, legs). Where a leg didn't bring the document: 0, or the leg's lowest
            where that is below 0, so that matching never costs anything.
        ranks: (…, documents, legs), from 1, 0 where a leg didn't bring the document.
    """

    normalized: Floats
    ranks: Ranks


def unchanged(sums: Floats, weight: Floats) -> Floats:
    """The `finish` of a combination that is a weighted sum."""
    return sums


@dataclass(frozen=True)
class Combination:
    """Legs to one score: `finish(sum(weight * term))`, which every technique here is.

    Many settings of weights are scored at once by a leading axis.

    Args:
        terms: table and rank constant to what a leg's weight is multiplied by, (…, documents, legs): rising
            with the normalized score or with a better rank, and never higher where a leg didn't bring a
            document than where it did.
        finish: weighted sums (…, documents) and the sum of the weights (…, 1) to scores (…, documents),
            rising with the former.
        normalization: in the place of what the legs are otherwise normalized by.
    """

    terms: Callable[[Table, int], Floats]
    finish: Callable[[Floats, Floats], Floats] = unchanged
    normalization: Normalization | None = None

    def __call__(self, table: Table, weights: Floats, rank_constant: int = 60) -> Floats:
        """Scores (…, documents).

        Args:
            table: what the legs gave.
            weights: (…, legs), 0 or more.
            rank_constant: 1 or more, for `rrf`.
        """
        sums = weighted(self.terms(table, rank_constant), weights)
        return self.finish(sums, weights.sum(axis=-1, keepdims=True))


def weighted(terms: Floats, weights: Floats) -> Floats:
    """`sum(weight * term)`: (…, documents, legs) and (…, legs) to (…, documents)."""
    # No matrix product: its last bits depend on a row's place, and equal documents must stay equal.
    sums: Floats = np.zeros(terms.shape[:-1])
    for leg in range(terms.shape[-1]):
        sums = sums + weights[..., leg, None] * terms[..., leg]
    return sums
