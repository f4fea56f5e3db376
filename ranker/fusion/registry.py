"""The techniques by name, as OpenSearch names them."""

from __future__ import annotations

from trifuse.ranker.fusion.arithmetic_mean import ARITHMETIC_MEAN
from trifuse.ranker.fusion.combination import Combination
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.none import none
from trifuse.ranker.fusion.normalization import Normalization
from trifuse.ranker.fusion.rrf import RRF
from trifuse.ranker.fusion.softmax import softmax
from trifuse.ranker.fusion.weighted_sum import WEIGHTED_SUM

NORMALIZATIONS: dict[str, Normalization] = {"min_max": min_max, "softmax": softmax, "none": none}
"""How one leg's raw scores become comparable."""

COMBINATIONS: dict[str, Combination] = {
    "weighted_sum": WEIGHTED_SUM,
    "arithmetic_mean": ARITHMETIC_MEAN,
    "rrf": RRF,
}
"""How legs become one score."""
