"""Scores to a vector of unit length."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.types import Floats


def l2(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to (n,) in [-1, 1], whose squares sum to 1: `s / sqrt(sum(s²))`.

    Negative scores stay negative. Where all scores are equal each is `1 / sqrt(n)`, so 1.0 for a single
    hit: also where they are 0, for which OpenSearch's processor gives 0, or negative.

    >>> import numpy as np
    >>> l2(np.array([4.0, 3.0])).tolist(), l2(np.array([0.0])).tolist()
    ([0.8, 0.6], [1.0])
    """
    if scores.size == 0:
        return scores
    if scores.min() == scores.max():
        return np.full_like(scores, scores.size**-0.5)
    scores = scores / np.abs(scores).max()  # the squares of large scores are beyond all floats
    normalized: Floats = scores / np.sqrt(np.square(scores).sum())
    return normalized
