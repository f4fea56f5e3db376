"""The weighted harmonic mean."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.fusion.geometric_mean import at_least
from trifuse.ranker.types import Floats


def _reciprocals(table: Table, rank_constant: int) -> Floats:
    reciprocals: Floats = -1.0 / at_least(table)
    return reciprocals


def _ratio(sums: Floats, weight: Floats) -> Floats:
    mean: Floats = weight / np.where(weight > 0, -sums, 1.0)
    return mean


HARMONIC_MEAN = Combination(_reciprocals, _ratio)
"""`sum(weight) / sum(weight / max(normalized, 0.001))`: near the lowest leg. See `LEAST`."""
