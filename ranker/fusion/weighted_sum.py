"""`sum(weight * normalized)`."""

from __future__ import annotations

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.types import Floats


def normalized_scores(table: Table, rank_constant: int) -> Floats:
    """The normalized scores as they are."""
    return table.normalized


WEIGHTED_SUM = Combination(normalized_scores)
"""`sum(weight * normalized)`."""
