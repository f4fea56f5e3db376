"""Scores in standard deviations."""

from __future__ import annotations

from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.types import Floats


def z_score(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to (n,) above or at 0: `(s - min) / deviation`, by the deviation of a sample (n - 1).

    That is the z-score `(s - mean) / deviation`, counted from the leg's worst hit rather than from its mean.
    Counted from the mean, half of a leg's hits are below 0, which is what a document gets that the leg
    didn't bring: it would gain by not matching. OpenSearch's processor lifts all of them to 0.001, and so
    tells the worse half of a leg apart no more; a hit at the mean gets the leg's best raw score. Here the
    order of a sum of legs is that of the plain z-scores, where a leg gives a document that it didn't bring
    what it gives its worst hit.

    Where all scores are equal, or there is only one, each is 1.0.

    >>> import numpy as np
    >>> z_score(np.array([3.0, 2.0, 1.0])).tolist(), z_score(np.array([7.2])).tolist()
    ([2.0, 1.0, 0.0], [1.0])
    """
    shares = min_max(scores)  # the squares of large scores are beyond all floats
    if shares.size < 2 or shares.min() == shares.max():
        return shares
    normalized: Floats = shares / shares.std(ddof=1)
    return normalized
