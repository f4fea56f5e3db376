"""Scores to shares of a probability."""

from __future__ import annotations

from trifuse.ranker.clicks import weights as click_weights
from trifuse.ranker.fusion.normalization import DEFAULT_SCALING, Scaling
from trifuse.ranker.types import Floats

UNIT_NORM_TEMPERATURE = 0.05
"""Of the softmax over cosines, where a profile names none.

Cosines of one query's 1,000 nearest documents lie within a few tenths. At LADER's temperature of 1 the best
of them, 0.3 above the last, would weigh e^0.3 = 1.35 times as much: the softmax is flat, each document gets
about 1/1,000, and any click outweighs what the documents say. At 0.05 it weighs e^6 = 403 times as much.
Inner products of LADER's own towers aren't bounded by 1: there the paper's temperature stays.
"""


def softmax(scores: Floats, scaling: Scaling = DEFAULT_SCALING) -> Floats:
    """(n,) raw to (n,) above or at 0 that sum to 1: `exp(s / temperature) / sum(exp(s / temperature))`.

    The smaller the temperature, the more the best weigh.

    >>> import numpy as np
    >>> softmax(np.array([0.0, 0.0])).tolist(), softmax(np.array([900.0, -900.0])).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    """
    return click_weights.softmax(scores, scaling.temperature)
