"""Raw scores of one leg to comparable ones: one technique a function, named as in OpenSearch."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from trifuse.ranker import click_weights
from trifuse.ranker.types import Floats

Normalization = Callable[[Floats, float], Floats]
"""(n,) finite raw scores and a temperature above 0, which only `softmax` uses, to (n,) scores."""

UNIT_NORM_TEMPERATURE = 0.05
"""Of the softmax over cosines, where a profile names none.

Cosines of one query's 1,000 nearest documents lie within a few tenths. At LADER's temperature of 1 the best
of them, 0.3 above the last, would weigh e^0.3 = 1.35 times as much: the softmax is flat, each document gets
about 1/1,000, and any click outweighs what the documents say. At 0.05 it weighs e^6 = 403 times as much.
Inner products of LADER's own towers aren't bounded by 1: there the paper's temperature stays.
"""


def min_max(scores: Floats, temperature: float = 1.0) -> Floats:
    """(n,) raw to (n,) in [0, 1]: `(s - min) / (max - min)`.

    Where all scores are equal, or there is only one, each is 1.0: every hit is the leg's best. The worst
    hit gets 0.0, without the floor of 0.001 that OpenSearch's processor has.

    >>> import numpy as np
    >>> min_max(np.array([7.0, 4.0, 1.0])).tolist(), min_max(np.array([7.2])).tolist()
    ([1.0, 0.5, 0.0], [1.0])
    """
    if scores.size == 0:
        return scores
    low, high = float(scores.min()), float(scores.max())
    if high == low:
        return np.ones_like(scores)
    if math.isinf(high - low):
        scores, low, high = scores / 2, low / 2, high / 2
    normalized: Floats = (scores - low) / (high - low)
    return normalized


def softmax(scores: Floats, temperature: float = 1.0) -> Floats:
    """(n,) raw to (n,) above or at 0 that sum to 1: `exp(s / temperature) / sum(exp(s / temperature))`.

    The smaller the temperature, the more the best weigh.

    >>> import numpy as np
    >>> softmax(np.array([0.0, 0.0])).tolist(), softmax(np.array([900.0, -900.0])).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    """
    return click_weights.softmax(scores, temperature)


def none(scores: Floats, temperature: float = 1.0) -> Floats:
    """(n,) raw to the same."""
    return scores


NORMALIZATIONS: dict[str, Normalization] = {"min_max": min_max, "softmax": softmax, "none": none}
