"""Distribution-based score fusion."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.combination import Combination
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.fusion.weighted_sum import normalized_scores
from trifuse.ranker.types import Floats


def three_deviations(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to (n,): `(s - low) / (high - low)`, where low and high are mean ± 3 standard deviations.

    The mean is 0.5, and a score beyond three deviations is below 0 or above 1: nothing is cut off, so that
    a better score never gets the same. The deviation is a sample's (n - 1). Where all scores are equal, or
    there is only one, each is 0.5.

    >>> import numpy as np
    >>> three_deviations(np.array([3.0, 2.0, 1.0])).round(3).tolist(), three_deviations(np.ones(1)).tolist()
    ([0.667, 0.5, 0.333], [0.5])
    """
    shares = min_max(scores)  # the squares of large scores are beyond all floats
    if shares.size < 2 or shares.min() == shares.max():
        return np.full_like(shares, 0.5)
    normalized: Floats = 0.5 + (shares - shares.mean()) / (6.0 * shares.std(ddof=1))
    return normalized


DBSF = Combination(normalized_scores, normalization=three_deviations)
"""`sum(weight * normalized)`, each leg normalized by `three_deviations`: Qdrant's, which has no weights."""
