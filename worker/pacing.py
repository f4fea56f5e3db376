"""How fast vectors may be written without making searches slow: no I/O, no clock.

Writing has a share of the time. It is halved where the cluster has no room (429) or searches get slow, and
comes back bit by bit, as TCP does it (RFC 5681); the rest of the time is paused.
"""

from __future__ import annotations

from dataclasses import dataclass

LEAST_SHARE = 1 / 16
STEP = 1 / 16
"""What a batch without trouble gives back."""
LONGEST_PAUSE_S = 10.0
"""Far below the time after which a message that isn't acknowledged is delivered again."""


@dataclass
class Pacing:
    """The share of the time that writing may take.

    >>> pacing = Pacing()
    >>> pacing.note(crowded=True)
    >>> pacing.pause_s(2.0)
    2.0

    Args:
        share: from LEAST_SHARE to 1.
        slow: whether searches were slow when that was last known.
    """

    share: float = 1.0
    slow: bool = False

    def note(self, *, crowded: bool = False, slow: bool | None = None) -> None:
        """Learn from a batch.

        Args:
            crowded: the cluster had no room for a part of it.
            slow: whether searches are slow; None where that wasn't measured anew.
        """
        if slow is not None:
            self.slow = slow
        if crowded or slow:
            self.share = max(LEAST_SHARE, self.share / 2)
        elif not self.slow:
            self.share = min(1.0, self.share + STEP)

    def pause_s(self, took_s: float) -> float:
        """How long to wait after a batch that took so long."""
        return min(LONGEST_PAUSE_S, max(0.0, took_s) * (1 / self.share - 1))


FEWEST = 20
"""Searches (one for each shard) since the last reading below which their mean time tells nothing."""
WELL_OVER = 3.0
LEAST_RISE_MS = 20.0
"""A rise that nobody notices is none: from 1 ms to 5 ms, say."""
DRIFT = 1.05


class Baseline:
    """How long searches take when they aren't disturbed: the shortest mean time seen lately.

    It rises by 5 % with each reading that is slower: where writing less doesn't make searches quicker, it
    isn't writing that makes them slow. Read every 5 s, three times the usual is usual after 2 minutes.

    Args:
        most_ms: searches are slow above this mean time, whatever was seen; None: only by what was seen.
    """

    def __init__(self, most_ms: float | None = None) -> None:
        self._most_ms = most_ms
        self._usual_ms: float | None = None

    def slow(self, searches: int, took_ms: float) -> bool:
        """Whether so many searches, which took so long together since the last reading, were slow.

        >>> baseline = Baseline()
        >>> baseline.slow(100, 1_000), baseline.slow(100, 5_000), baseline.slow(1, 900)
        (False, True, False)
        """
        if searches < FEWEST:
            return False
        mean = took_ms / searches
        usual = self._usual_ms
        self._usual_ms = mean if usual is None else min(mean, usual * DRIFT)
        if self._most_ms is not None and mean > self._most_ms:
            return True
        return usual is not None and mean > max(usual * WELL_OVER, usual + LEAST_RISE_MS)
