"""Legs and judgements of no real queries, for what depends on their sizes alone. Seeded, NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trifuse.ranker import Profile
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.tuning import Collected, CollectedQuery
from trifuse.ranker.types import LEGS, Key

INDEX = "made-up"
JUDGED = 80
"""Of each leg's first documents so many are judged, as a pool is."""


@dataclass(frozen=True)
class MadeUp:
    """What three legs found, and what is relevant.

    Args:
        legs: leg to query to document to score, best first.
        qrels: query to document to grade, 0 to 2.
        depth: documents a leg.
    """

    legs: Mapping[str, Mapping[str, Mapping[str, float]]]
    qrels: Mapping[str, Mapping[str, int]]
    depth: int

    def profile(self, weights: Mapping[str, float]) -> Profile:
        """All legs scaled to [0, 1], and summed by these weights."""
        return Profile(
            name="made up",
            weights=weights,
            depth=self.depth,
            normalization="min_max",
            combination="weighted_sum",
            clicks=ClickSettings(support=0.0, candidates=self.depth),
        )

    def collected(self) -> Collected:
        """The legs as tuning has them after a server was asked."""
        queries = {}
        for query in self.qrels:
            clicked = self.legs["clicks"][query]
            queries[query] = CollectedQuery.of(
                query,
                {
                    leg: [(Key(id, INDEX), score) for id, score in self.legs[leg][query].items()]
                    for leg in ("lexical", "dense")
                },
                evidence=ClickEvidence(dict(clicked)),
                there=[Key(id, INDEX) for id in clicked],
            )
        return Collected(INDEX, queries, self.profile(dict.fromkeys(LEGS, 1.0)), self.depth)


def made_up(queries: int, depth: int, *, documents: int, alike: float, seed: int = 0) -> MadeUp:
    """Draw them.

    Args:
        documents: that a leg's best are taken from.
        alike: how a leg's scores correlate with what the documents are worth; two legs by its square.
    """
    rng = np.random.default_rng(seed)
    legs: dict[str, dict[str, dict[str, float]]] = {leg: {} for leg in LEGS}
    qrels = {}
    for query in (f"q{number}" for number in range(queries)):
        worth = rng.standard_normal(documents)
        pool: set[int] = set()
        for leg in LEGS:
            scores = alike * worth + np.sqrt(1 - alike**2) * rng.standard_normal(documents)
            best = np.argsort(-scores)[:depth]
            legs[leg][query] = {f"d{row}": float(1 / (1 + np.exp(-scores[row]))) for row in best}
            pool.update(best[:JUDGED].tolist())
        rows = sorted(pool)
        grades = np.clip(np.floor(worth[rows] + rng.standard_normal(len(rows))), 0, 2).astype(int)
        qrels[query] = {f"d{row}": int(grade) for row, grade in zip(rows, grades, strict=True)}
    return MadeUp(legs, qrels, depth)
