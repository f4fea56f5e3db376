"""Legs to one score: one technique a function, named as in OpenSearch.

A document that a leg didn't bring gains nothing from that leg; one that it did never loses by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trifuse.ranker.types import Floats, Ranks


@dataclass(frozen=True)
class Table:
    """Candidates by legs.

    Args:
        normalized: (documents, legs), 0 where a leg didn't bring the document.
        ranks: (documents, legs), from 1, 0 where a leg didn't bring the document.
    """

    normalized: Floats
    ranks: Ranks


Combination = Callable[[Table, Floats, int], Floats]
"""Table, weights (legs,), rank constant to (documents,) scores."""


def weighted_sum(table: Table, weights: Floats, rank_constant: int) -> Floats:
    """`sum(weight * normalized)`."""
    # No matrix product: its last bits depend on a row's place, and equal documents must stay equal.
    scores: Floats = (table.normalized * weights).sum(axis=1)
    return scores


def arithmetic_mean(table: Table, weights: Floats, rank_constant: int) -> Floats:
    """`sum(weight * normalized) / sum(weight)`: in [0, 1] whatever the weights add up to."""
    scores: Floats = weighted_sum(table, weights, rank_constant) / weights.sum()
    return scores


def rrf(table: Table, weights: Floats, rank_constant: int) -> Floats:
    """`sum(weight / (rank_constant + rank))` over legs that brought the document (Cormack et al. 2009)."""
    shares = np.where(table.ranks > 0, 1.0 / (rank_constant + table.ranks), 0.0)
    scores: Floats = (shares * weights).sum(axis=1)
    return scores


COMBINATIONS: dict[str, Combination] = {
    "weighted_sum": weighted_sum,
    "arithmetic_mean": arithmetic_mean,
    "rrf": rrf,
}
