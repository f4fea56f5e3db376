"""Scores to shares of the leg's range."""

from __future__ import annotations

import math

import numpy as np

from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.types import Floats


def min_max(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to (n,) in [0, 1]: `(s - min) / (max - min)`.

    Where all scores are equal, or there is only one, each is 1.0: every hit is the leg's best. The worst
    hit gets 0.0, without the floor of 0.001 that OpenSearch's processor has.

    Bounds widen the range, and never narrow it: with (0, 1) a leg whose hits score 0.2 to 0.4 keeps its
    scores. OpenSearch's mode `apply` is the same where the bounds are outside the hits; inside them it
    measures hits on either side of a bound differently, so that the better of two may get less.
    Hits of one score are measured where there is a lower bound, else there is nothing to measure them from.

    >>> import numpy as np
    >>> min_max(np.array([7.0, 4.0, 1.0])).tolist(), min_max(np.array([7.2])).tolist()
    ([1.0, 0.5, 0.0], [1.0])
    >>> min_max(np.array([3.0, 2.0]), Scaling(bounds=(0.0, 4.0))).tolist()
    [0.75, 0.5]
    """
    if scores.size == 0:
        return scores
    low, high = float(scores.min()), float(scores.max())
    lower, upper = scaling.bounds
    if low == high and lower is None:
        return np.ones_like(scores)
    low = low if lower is None else min(low, lower)
    high = high if upper is None else max(high, upper)
    if low == high:
        return np.ones_like(scores)
    if math.isinf(high - low):
        scores, low, high = scores / 2, low / 2, high / 2
    normalized: Floats = (scores - low) / (high - low)
    return normalized
