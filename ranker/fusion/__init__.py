"""Scores of several legs to one: pure NumPy, any number of legs."""

from __future__ import annotations

from trifuse.ranker.fusion.combination import Combination, Table
from trifuse.ranker.fusion.hits import LegHits
from trifuse.ranker.fusion.normalization import Scaling
from trifuse.ranker.fusion.ranked import Candidate, Fusion, combine, tabulate
from trifuse.ranker.fusion.registry import COMBINATIONS, NORMALIZATIONS

__all__ = [
    "COMBINATIONS",
    "NORMALIZATIONS",
    "Candidate",
    "Combination",
    "Fusion",
    "LegHits",
    "Scaling",
    "Table",
    "combine",
    "tabulate",
]
