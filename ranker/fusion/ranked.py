"""Legs, each normalized, to one order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.fusion.hits import LegHits
from trifuse.ranker.types import Floats, Key, Ranks


@dataclass(frozen=True)
class LegValue:
    """What one leg gave one document."""

    score: float
    normalized: float
    weight: float
    rank: int


@dataclass(frozen=True)
class Candidate:
    """A fused document, with what each leg gave it (None: the leg didn't bring it)."""

    key: Key
    score: float
    legs: Mapping[str, LegValue | None]


@dataclass(frozen=True)
class Fusion:
    """All candidates, best first.

    Args:
        keys: the documents.
        scores: (documents,) fused.
        legs: names, in the order of the columns.
        raw, normalized, ranks: (documents, legs); rank 0 where a leg didn't bring the document.
        weights: (legs,).
    """

    keys: tuple[Key, ...]
    scores: Floats
    legs: tuple[str, ...]
    raw: Floats
    normalized: Floats
    ranks: Ranks
    weights: Floats

    def candidate(self, place: int) -> Candidate:
        """The document at a place of the ranking, from 0."""
        legs = zip(
            self.legs, self.raw[place], self.normalized[place], self.weights, self.ranks[place], strict=True
        )
        return Candidate(
            self.keys[place],
            float(self.scores[place]),
            {
                leg: LegValue(float(score), float(normalized), float(weight), int(rank)) if rank else None
                for leg, score, normalized, weight, rank in legs
            },
        )


def combine(
    legs: Mapping[str, LegHits],
    normalized: Mapping[str, Floats],
    weights: Mapping[str, float],
    combination: Combination,
    rank_constant: int = 60,
) -> Fusion:
    """Combine legs, and order by score, then by `_id`.

    Args:
        legs: leg to its hits; their order is that of the columns.
        normalized: leg to the (hits,) comparable scores of its hits.
        weights: leg to weight, 0 or more.
        combination: one of `COMBINATIONS`.
        rank_constant: 1 or more, for `rrf`.
    """
    keys, raw, table = tabulate(legs, normalized)
    columns = np.array([weights[leg] for leg in legs])
    scores = combination(table, columns, rank_constant)
    order = np.argsort(-scores, kind="stable")  # rows are in the order of their keys, so ties are too
    in_order = tuple(keys[row] for row in order.tolist())
    found = (raw[order], table.normalized[order], table.ranks[order])
    return Fusion(in_order, scores[order], tuple(legs), *found, columns)


def tabulate(
    legs: Mapping[str, LegHits], normalized: Mapping[str, Floats]
) -> tuple[list[Key], Floats, Table]:
    """All documents in the order of their keys, their raw scores (documents, legs), and the table of them.

    Args:
        legs: leg to its hits; their order is that of the columns.
        normalized: leg to the (hits,) comparable scores of its hits, best first as they are.
    """
    keys = sorted({key for hits in legs.values() for key in hits.keys})
    rows = {key: row for row, key in enumerate(keys)}
    shape = (len(keys), len(legs))
    raw: Floats = np.zeros(shape)
    scaled: Floats = np.zeros(shape)
    ranks: Ranks = np.zeros(shape, dtype=np.int64)
    for column, (leg, hits) in enumerate(legs.items()):
        at = np.array([rows[key] for key in hits.keys], dtype=np.int64)
        raw[at, column] = hits.scores
        scaled[:, column] = normalized[leg].min(initial=0.0)
        scaled[at, column] = normalized[leg]
        ranks[at, column] = np.arange(1, len(at) + 1)
    return keys, raw, Table(scaled, ranks)
