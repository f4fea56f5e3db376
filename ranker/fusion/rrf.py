"""Reciprocal rank fusion."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.types import Floats


def _reciprocal_ranks(table: Table, rank_constant: int) -> Floats:
    return np.where(table.ranks > 0, 1.0 / (rank_constant + table.ranks), 0.0)


RRF = Combination(_reciprocal_ranks)
"""`sum(weight / (rank_constant + rank))` over legs that brought the document (Cormack et al. 2009)."""
