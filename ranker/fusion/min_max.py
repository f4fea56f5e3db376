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

    >>> import numpy as np
    >>> min_max(np.array([7.0, 4.0, 1.0])).tolist(), min_max(np.array([7.2])).tolist()
    ([1.0, 0.5, 0.0], [1.0])
    """
    if scores.size == 0:
        return scores
    low, high = float(scores.min()), float(scores.max())
    if high == low:
        return np.ones_like(scores)
    if math.isinf(high - low):
        scores, low, high = scores / 2, low / 2, high / 2
    normalized: Floats = (scores - low) / (high - low)
    return normalized
