"""The weighted geometric mean."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.types import Floats

LEAST = 0.001
"""What a leg gives at least to the geometric and the harmonic mean, also where it didn't bring the document.

A score of 0 would make either 0, whatever the other legs say. OpenSearch leaves a missing leg out of the
mean instead, so that a document gains by not matching: one that a leg finds at 1.0 is ahead of one that two
legs find at 1.0 and 0.9. 0.001 is what its `min_max` gives a leg's worst hit: there both means are the same
as OpenSearch's for documents that all legs brought.
"""


def at_least(table: Table) -> Floats:
    """The normalized scores, (…, documents, legs), none below `LEAST`."""
    # In one layout, whatever the table's: vectorised logarithms of one number differ between layouts.
    return np.ascontiguousarray(np.maximum(table.normalized, LEAST))


def _logarithms(table: Table, rank_constant: int) -> Floats:
    logarithms: Floats = np.log(at_least(table))
    return logarithms


def _power(sums: Floats, weight: Floats) -> Floats:
    mean: Floats = np.exp(sums / np.where(weight > 0, weight, 1.0))
    return mean


GEOMETRIC_MEAN = Combination(_logarithms, _power)
"""`exp(sum(weight * log(max(normalized, 0.001))) / sum(weight))`: high where no leg is low."""
