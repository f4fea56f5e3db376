"""Forward decay: counts that fade by half-life and need no update as time goes by.

A click at time t weighs 2^((t - now) / half_life). The weights of one document's clicks all fade at the same
pace, so their sum can be kept relative to a fixed time and read at any later one: Cormode, Shkapenyuk,
Srivastava, Xu 2009, "Forward Decay: A Practical Time Decay Model for Streaming Systems". The order in which
clicks arrive doesn't matter.

Kept is log2 of the sum relative to 1970: `log2 Σ count · 2^(t / half_life)`. The plain sum would overflow
after 1,024 half-lives and would need to be renormalised; its logarithm needs neither a landmark nor that.
Adding in another order changes it by rounding alone: by less than 1e-8 of the count for a thousand additions
at a half-life of a day or more (a float has 52 bits, of which 20,000 half-lives take 15).
"""

from __future__ import annotations

import math

from trifuse.ranker.keys import DAY_S

HALF_LIFE_DAYS = 90.0
MIN_HALF_LIFE_DAYS = 1.0 / 24.0
"""An hour; with less the logarithm's digits wouldn't do."""


def log2_weight(timestamp: float, half_life_days: float, count: int = 1) -> float:
    """log2 of what `count` clicks at `timestamp` (seconds since 1970) add to a document.

    >>> log2_weight(90 * 86_400, half_life_days=90, count=2)
    2.0
    """
    return timestamp / (half_life_days * DAY_S) + math.log2(count)


def log2_add(a: float, b: float) -> float:
    """log2(2^a + 2^b), for any a and b.

    >>> log2_add(5000.0, 5000.0)
    5001.0
    """
    high, low = max(a, b), min(a, b)
    return high + math.log1p(2.0 ** (low - high)) / math.log(2.0)


def decayed_count(log2_sum: float, now: float, half_life_days: float) -> float:
    """The clicks that a kept sum stands for at `now`, in clicks of this moment.

    >>> decayed_count(log2_weight(0, 90), now=90 * 86_400, half_life_days=90)
    0.5
    """
    return float(2.0 ** min(log2_sum - log2_weight(now, half_life_days), 1023.0))
