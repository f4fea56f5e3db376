"""What of a search its rules go by: the text, the segment, and how the legs' hits score. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from trifuse.encoder.templates import clean_text
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.normalization import Scaling
from trifuse.ranker.fusion.softmax import softmax

ENTROPY_HITS = 100
"""So many of a leg's best hits the entropy is of: it says the same whatever a profile's depth, above this."""

ENTROPY_TEMPERATURE = 0.1
"""Of the softmax over their scores, scaled to [0, 1]: a hit 0.1 below the best weighs e⁻¹ of it."""


@dataclass(frozen=True)
class Features:
    """What the rules of a profile go by.

    Args:
        words: how many words the text has.
        segment: of the query in the click log: HEAD, TORSO or TAIL. None: not known.
        lexical_entropy, dense_entropy: how alike the leg's best hits score; None: it brought none.
    """

    words: int
    segment: str | None = None
    lexical_entropy: float | None = None
    dense_entropy: float | None = None

    @classmethod
    def of(cls, text: str, segment: str | None, scores: Mapping[str, Sequence[float]]) -> Features:
        """The features of a search.

        Args:
            text: what the user typed.
            scores: leg to the scores of its hits as the server gave them, best first.
        """
        lexical, dense = (entropy(scores.get(leg, ())) for leg in ("lexical", "dense"))
        return cls(len(clean_text(text).split()), segment, lexical, dense)


FEATURES = tuple(each.name for each in fields(Features))


def entropy(scores: Sequence[float]) -> float | None:
    """How alike a leg's best hits score, the best first: 0 where one stands out, 1 where all score the same.

    Of the first `ENTROPY_HITS` scores s: x = (s - min) / (max - min), p = softmax(x / `ENTROPY_TEMPERATURE`),
    and the entropy is -Σ p·ln p / ln n. None of no hits, 0 of one, 1 where all are equal.

    >>> entropy([2.0, 2.0]), entropy([5.0]), entropy([])
    (1.0, 0.0, None)
    """
    best = np.asarray(scores[:ENTROPY_HITS], dtype=np.float64)
    if best.size < 2:
        return 0.0 if best.size else None
    if best[0] == best[-1]:
        return 1.0
    shares = softmax(min_max(best), Scaling(temperature=ENTROPY_TEMPERATURE))
    return float(-np.sum(shares * np.log(shares)) / math.log(best.size))
