"""OpenSearch's own fusion as it computes it, for all 66 settings that its Search Relevance Workbench tries.

https://docs.opensearch.org/latest/search-plugins/search-relevance/optimize-hybrid-search/: two
normalizations, three means, weights in steps of 0.1. Pure; the setting that is chosen is then asked of the
server itself (trials.py), which ranks alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker import Profile
from trifuse.ranker.tuning import CollectedQuery, Measure
from trifuse.ranker.tuning.measures import ABSENT, UNJUDGED

Floats = NDArray[np.float64]

DEPTH = 100
MIN_SCORE = 0.001
"""What the worst hit of a leg gets by `min_max`."""

NORMALIZATIONS = ("min_max", "l2")
MEANS = ("arithmetic_mean", "geometric_mean", "harmonic_mean")


class ServerSetting(NamedTuple):
    """One of the 66; lexical weighs 1 - dense."""

    normalization: str
    mean: str
    dense: float

    def profile(self, name: str, body: Mapping[str, Any]) -> Profile:
        """The profile that the server runs."""
        return Profile(
            name=name,
            weights={"lexical": round(1 - self.dense, 1), "dense": self.dense},
            normalization=self.normalization,
            combination=self.mean,
            depth=DEPTH,
            body=body,
            execution="native",
        )


SETTINGS = tuple(
    ServerSetting(normalization, mean, step / 10)
    for normalization, mean, step in product(NORMALIZATIONS, MEANS, range(11))
)


def server_values(query: CollectedQuery, judged: Mapping[str, int], measure: Measure) -> Floats:
    """What each setting is worth for one query, (66,)."""
    grades = np.array([judged.get(key.id, UNJUDGED) for key in query.keys], np.int32)
    rows = {leg: query.legs[leg].cut(DEPTH) for leg in ("lexical", "dense")}
    found: list[Floats] = []
    for setting in SETTINGS:
        table = np.zeros((2, len(query.keys)))
        for place, hits in enumerate(rows.values()):
            table[place, hits.rows] = normalized(hits.scores, setting.normalization)
        scores = combined(table, np.array([1 - setting.dense, setting.dense]), setting.mean)
        best = np.argsort(-scores, kind="stable")[:DEPTH]
        ranked = np.where(scores[best] > 0, grades[best], ABSENT)
        found.append(measure.values(ranked[None, :], judged))
    return np.concatenate(found)


def normalized(scores: Floats, name: str) -> Floats:
    """(n,) raw scores of a leg to (n,): the server's `min_max` with its floor, or its `l2`.

    >>> normalized(np.array([3.0, 2.0, 1.0]), "min_max").tolist()
    [1.0, 0.5, 0.001]
    >>> normalized(np.array([4.0, 3.0]), "l2").tolist()
    [0.8, 0.6]
    """
    if not len(scores):
        return scores
    if name == "l2":
        length = float(np.sqrt((scores**2).sum()))
        return scores / length if length else np.full_like(scores, MIN_SCORE)
    low, high = float(scores.min()), float(scores.max())
    if low == high:
        return np.ones_like(scores)
    scaled = (scores - low) / (high - low)
    return np.where(scaled == 0, MIN_SCORE, scaled)


def combined(table: Floats, weights: Floats, mean: str) -> Floats:
    """(legs, documents) normalised scores, 0 where a leg didn't bring it, to (documents,).

    A leg that didn't bring a document counts as 0 in the arithmetic mean, and not at all, its weight
    included, in the others.

    >>> table, weights = np.array([[1.0, 1.0], [0.25, 0.0]]), np.array([0.5, 0.5])
    >>> [combined(table, weights, mean).tolist() for mean in MEANS]
    [[0.625, 0.5], [0.5, 1.0], [0.4, 1.0]]
    """
    if mean == "arithmetic_mean":
        return (weights[:, None] * table).sum(axis=0) / weights.sum()
    brought = table > 0
    total = (weights[:, None] * brought).sum(axis=0)
    known = np.where(brought, table, 1.0)
    if mean == "geometric_mean":
        logs = (weights[:, None] * np.log(known)).sum(axis=0)
        return np.where(total > 0, np.exp(logs / np.where(total > 0, total, 1.0)), 0.0)
    inverse = np.where(brought, weights[:, None] / known, 0.0).sum(axis=0)
    return np.where(inverse > 0, total / np.where(inverse > 0, inverse, 1.0), 0.0)
