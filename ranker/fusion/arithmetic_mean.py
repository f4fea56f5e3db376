"""`sum(weight * normalized) / sum(weight)`."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.combination import Combination
from trifuse.ranker.fusion.weighted_sum import normalized_scores
from trifuse.ranker.types import Floats


def _mean(sums: Floats, weight: Floats) -> Floats:
    mean: Floats = sums / np.where(weight > 0, weight, 1.0)
    return mean


ARITHMETIC_MEAN = Combination(normalized_scores, _mean)
"""`sum(weight * normalized) / sum(weight)`: in [0, 1], where the legs are, whatever the weights add up to."""
