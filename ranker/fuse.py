"""Hits of several legs to one order."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from trifuse.ranker.combine import COMBINATIONS, Table
from trifuse.ranker.normalize import NORMALIZATIONS
from trifuse.ranker.past_queries import similarity_of
from trifuse.ranker.profiles import Profile
from trifuse.ranker.types import LEGS, Floats, Key, Ranks, Similarity


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
        raw, normalized, ranks: (documents, legs), the legs as in `LEGS`; rank 0 where a leg didn't bring it.
        weights: (legs,).
    """

    keys: tuple[Key, ...]
    scores: Floats
    raw: Floats
    normalized: Floats
    ranks: Ranks
    weights: Floats

    def candidate(self, place: int) -> Candidate:
        """The document at a place of the ranking, from 0."""
        legs = zip(
            LEGS, self.raw[place], self.normalized[place], self.weights, self.ranks[place], strict=True
        )
        return Candidate(
            self.keys[place],
            float(self.scores[place]),
            {
                leg: LegValue(float(score), float(normalized), float(weight), int(rank)) if rank else None
                for leg, score, normalized, weight, rank in legs
            },
        )


def fuse(
    legs: Mapping[str, LegHits],
    profile: Profile,
    *,
    segment: str | None = None,
    similarity: Similarity | None = None,
) -> Fusion:
    """Normalise each leg, combine, and order by score, then by `_id`.

    The order depends on neither the order of the legs' hits nor on the page that is asked for.

    Args:
        segment: of the query in the click log, by which a profile may weigh clicks.
        similarity: what the dense leg's scores were made from; None leaves them as they are.
    """
    keys = sorted({key for hits in legs.values() for key in hits.keys})
    rows = {key: row for row, key in enumerate(keys)}
    shape = (len(keys), len(LEGS))
    raw: Floats = np.zeros(shape)
    normalized: Floats = np.zeros(shape)
    ranks: Ranks = np.zeros(shape, dtype=np.int64)
    for column, leg in enumerate(LEGS):
        hits = legs.get(leg, LegHits())
        at = [rows[key] for key in hits.keys]
        raw[at, column] = hits.scores
        normalized[at, column] = _normalized(leg, hits, profile, similarity)
        ranks[at, column] = np.arange(1, len(at) + 1)
    weighted = profile.weights_in(segment)
    weights = np.array([weighted[leg] for leg in LEGS])
    fused = COMBINATIONS[profile.combination](Table(normalized, ranks), weights, profile.rank_constant)
    order = np.argsort(-fused, kind="stable")  # rows are in the order of their keys, so ties are too
    in_order = tuple(keys[row] for row in order.tolist())
    return Fusion(in_order, fused[order], raw[order], normalized[order], ranks[order], weights)


def opinion(
    legs: Mapping[str, LegHits], profile: Profile, *, similarity: Similarity | None = None
) -> dict[str, float]:
    """What the legs that found anything give each document together: the mean of its scores, by weight.

    Returns:
        document id to a value in [0, 1], the best where several documents share an id.
    """
    found = {leg: hits for leg, hits in legs.items() if hits.keys}
    total = sum(profile.weights[leg] for leg in found)
    means: dict[Key, float] = {}
    for leg, hits in found.items():
        share = profile.weights[leg] / total
        scores = np.clip(_normalized(leg, hits, profile, similarity), 0.0, 1.0)
        for key, score in zip(hits.keys, (share * scores).tolist(), strict=True):
            means[key] = means.get(key, 0.0) + score
    best: dict[str, float] = {}
    for key, mean in means.items():
        best[key.id] = max(mean, best.get(key.id, 0.0))
    return best


def _normalized(leg: str, hits: LegHits, profile: Profile, similarity: Similarity | None) -> Floats:
    name = profile.normalization_of(leg)
    scores = np.asarray(hits.scores, dtype=np.float64)
    if leg == "dense" and similarity is not None and name != "min_max":
        scores = np.array([similarity_of(score, similarity) for score in hits.scores])
    return NORMALIZATIONS[name](scores, profile.temperature_of(leg, similarity))
