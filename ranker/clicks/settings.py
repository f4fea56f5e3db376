"""How a search reads the click log: a part of its profile."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.values import check_one_of, check_whole, is_number

HEAD, TORSO, TAIL = "HEAD", "TORSO", "TAIL"
SEGMENTS = (HEAD, TORSO, TAIL)

WEIGHTINGS = ("relevant", "share", "expected")
"""What a document that was clicked for a past query is worth, see `ClickSettings.weighting`."""


def segment_of(frequency: float) -> str:
    """The segment of a query that stands so often in the log.

    TripClick's bounds (Rekabsaz et al. 2021): HEAD more than 44 times, TORSO 6 to 44, TAIL less than 6.

    >>> segment_of(45), segment_of(6), segment_of(0)
    ('HEAD', 'TORSO', 'TAIL')
    """
    if frequency > 44:
        return HEAD
    return TORSO if frequency >= 6 else TAIL


@dataclass(frozen=True)
class ClickSettings:
    """How the click leg reads the log.

    Args:
        m: how many similar past queries are looked up.
        temperature: of the softmax over their similarities; the smaller, the more the nearest weigh. None:
            0.05 for cosines, 1 (the paper's) for inner products.
        min_similarity: past queries below it give no evidence. None: there is no floor.
        doubt: the similarity of an imagined past query that nothing was clicked for. It takes its share of
            the softmax, and leaves little to past queries that are less similar than it. None: 0.8 for
            cosines (fitted to the default encoder's), no such query for inner products. A very small number
            leaves it out.
        weighting: what a clicked document of a past query is worth. `relevant`: 1 (LADER's indicator);
            `share`: its decayed clicks as a share of those of the query's most clicked document;
            `expected`: its clicks over those that chance explains, as a share of them and of `smoothing`
            times those of the query's most clicked document: (clicks - chance) / (clicks + smoothing · most),
            0 at least; chance = expected + √expected + min(1, most / 10), of what is expected at the ranks
            where it was shown.
        smoothing: for `expected` alone.
        support: how much the other legs' opinion of a past query's documents adds to its similarity
            (`ranker.clicks.support`); 0: nothing.
        candidates: how many documents the leg brings at most, the best first.
        segment_weights: the leg's weight by the segment of the query (`segment_of`), in the place of the
            profile's weight of `clicks`; None: the profile's weight for all.
        log_share: the share of the past queries that is used, the same ones each time: for the study of the
            log's size.
    """

    m: int = 100
    temperature: float | None = None
    min_similarity: float | None = None
    doubt: float | None = None
    weighting: str = "expected"
    smoothing: float = 0.2
    support: float = 1.5
    candidates: int = 500
    segment_weights: Mapping[str, float] | None = None
    log_share: float = 1.0

    def temperature_for(self, similarity: Similarity) -> float:
        """The temperature for similarities of that kind."""
        if self.temperature is not None:
            return self.temperature
        return 1.0 if similarity == "dot" else 0.05

    def doubt_for(self, similarity: Similarity) -> float:
        """The doubt about similarities of that kind."""
        if self.doubt is not None:
            return self.doubt
        return -math.inf if similarity == "dot" else 0.8

    def uses(self, query: str) -> bool:
        """Whether a past query, by its id in hex digits, is in the share of the log that is used."""
        return self.log_share == 1.0 or int(query[:8], 16) < self.log_share * 2**32

    def __post_init__(self) -> None:
        check_whole("clicks.m", self.m, lowest=0)
        check_whole("clicks.candidates", self.candidates)
        check_one_of("clicks.weighting", self.weighting, WEIGHTINGS)
        if self.temperature is not None and not (is_number(self.temperature) and self.temperature > 0):
            raise ProfileError(f"clicks.temperature is {self.temperature!r}: give a number above 0, or none")
        if not (is_number(self.smoothing) and self.smoothing > 0):
            raise ProfileError(f"clicks.smoothing is {self.smoothing!r}: give a number above 0")
        if not (is_number(self.support) and 0 <= self.support <= 100):
            raise ProfileError(f"clicks.support is {self.support!r}: give a number from 0 to 100")
        for name in ("min_similarity", "doubt"):
            if getattr(self, name) is not None and not is_number(getattr(self, name)):
                raise ProfileError(f"clicks.{name} is {getattr(self, name)!r}: give a number, or none")
        if not (is_number(self.log_share) and 0 < self.log_share <= 1):
            raise ProfileError(f"clicks.log_share is {self.log_share!r}: give a share above 0, up to 1")
        if self.segment_weights is not None:
            _check_segment_weights(self.segment_weights)


def _check_segment_weights(weights: object) -> None:
    if not isinstance(weights, Mapping) or set(weights) != set(SEGMENTS):
        raise ProfileError(
            f"clicks.segment_weights is {weights!r}: give a weight to each of {', '.join(SEGMENTS)}"
        )
    for segment, weight in weights.items():
        if not is_number(weight) or weight < 0:
            raise ProfileError(
                f"clicks.segment_weights[{segment}] is {weight!r}: give a finite number of 0 or more"
            )
