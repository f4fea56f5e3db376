"""Hits of the legs to one order, as a profile says."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.clicks.past_queries import similarity_of
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS, Fusion, LegHits, Scaling, combine
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.types import LEGS, Floats, Key

_OF_SIMILARITIES = ("softmax", "none")
"""These see the dense leg's inner product or cosine, the others the engine's score, which rises with it."""


def fuse(
    legs: Mapping[str, LegHits],
    profile: Profile,
    *,
    weights: Mapping[str, float] | None = None,
    similarity: Similarity | None = None,
) -> Fusion:
    """Normalise each leg, combine, and order by score, then by `_id`.

    The order depends on neither the order of the legs' hits nor on the page that is asked for.

    Args:
        legs: leg to hits; a leg that isn't named brought nothing.
        profile: its settings.
        weights: leg to weight, for this query; None for the profile's own.
        similarity: what the dense leg's scores were made from; None leaves them as they are.
    """
    found = {leg: legs.get(leg, LegHits()) for leg in LEGS}
    return combine(
        found,
        {leg: normalized(leg, hits, profile, similarity) for leg, hits in found.items()},
        profile.weights if weights is None else weights,
        COMBINATIONS[profile.combination],
        profile.rank_constant,
    )


def opinion(
    legs: Mapping[str, LegHits], profile: Profile, *, similarity: Similarity | None = None
) -> dict[str, float]:
    """What the legs that found anything give each document together: the mean of its scores, by weight.

    Scores of a leg that go beyond 1 are scaled down to 1, and those below 0 count as 0.

    Returns:
        document id to a value in [0, 1], the best where several documents share an id.
    """
    means: dict[Key, float] = {}
    for leg, shares in opinions(legs, profile, similarity=similarity).items():
        for key, share in zip(legs[leg].keys, shares.tolist(), strict=True):
            means[key] = means.get(key, 0.0) + share
    best: dict[str, float] = {}
    for key, mean in means.items():
        best[key.id] = max(mean, best.get(key.id, 0.0))
    return best


def opinions(
    legs: Mapping[str, LegHits], profile: Profile, *, similarity: Similarity | None = None
) -> dict[str, Floats]:
    """What each leg that found anything adds to the opinion of its hits: leg to (hits,)."""
    found = {leg: hits for leg, hits in legs.items() if hits.scores}
    total = sum(profile.weights[leg] for leg in found)
    shares: dict[str, Floats] = {}
    for leg, hits in found.items():
        scores = np.maximum(normalized(leg, hits, profile, similarity), 0.0)
        shares[leg] = profile.weights[leg] / total * scores / max(1.0, scores.max())
    return shares


def normalized(leg: str, hits: LegHits, profile: Profile, similarity: Similarity | None) -> Floats:
    """(hits,) comparable scores of a leg's hits: by the combination's own normalization, or the leg's."""
    scores: Floats = np.asarray(hits.scores, dtype=np.float64)
    scaling = Scaling(profile.temperature_of(leg, similarity), profile.bounds.get(leg, (None, None)))
    own = COMBINATIONS[profile.combination].normalization
    if own is not None:
        return own(scores, scaling)
    name = profile.normalization_of(leg)
    if leg == "dense" and similarity is not None and name in _OF_SIMILARITIES:
        scores = np.array([similarity_of(score, similarity) for score in hits.scores])
    return NORMALIZATIONS[name](scores, scaling)
