"""The techniques by name, as OpenSearch names them."""

from __future__ import annotations

from trifuse.ranker.fusion.arithmetic_mean import ARITHMETIC_MEAN
from trifuse.ranker.fusion.combination import Combination
from trifuse.ranker.fusion.dbsf import DBSF
from trifuse.ranker.fusion.geometric_mean import GEOMETRIC_MEAN
from trifuse.ranker.fusion.harmonic_mean import HARMONIC_MEAN
from trifuse.ranker.fusion.l2 import l2
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.none import none
from trifuse.ranker.fusion.normalization import Normalization
from trifuse.ranker.fusion.rrf import RRF
from trifuse.ranker.fusion.softmax import softmax
from trifuse.ranker.fusion.weighted_sum import WEIGHTED_SUM
from trifuse.ranker.fusion.z_score import z_score

NORMALIZATIONS: dict[str, Normalization] = {
    "min_max": min_max,
    "l2": l2,
    "z_score": z_score,
    "softmax": softmax,
    "none": none,
}
"""How one leg's raw scores become comparable."""

COMBINATIONS: dict[str, Combination] = {
    "weighted_sum": WEIGHTED_SUM,
    "arithmetic_mean": ARITHMETIC_MEAN,
    "geometric_mean": GEOMETRIC_MEAN,
    "harmonic_mean": HARMONIC_MEAN,
    "rrf": RRF,
    "dbsf": DBSF,
}
"""How legs become one score."""

OF_THEIR_OWN = ("rrf", "dbsf")
"""Combinations that bring their own normalization: the legs' isn't used."""

SUMS = ("weighted_sum", "arithmetic_mean")
"""Combinations in which scores count as they are: those of clicks are shares of a probability."""
