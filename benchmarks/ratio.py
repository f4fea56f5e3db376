"""Paired ratios: two ways of doing the same work, run in turn, so that what slows the machine slows both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

Measure = Callable[[], float]
"""Does the work once, and returns its rate (units a second)."""

RESAMPLES = 10_000


@dataclass(frozen=True)
class Ratio:
    """Medians of both, the median of the paired ratios, and a bootstrap interval of that."""

    ours: float
    peer: float
    ratio: float
    ci95: tuple[float, float]
    unit: str = "1/s"


@dataclass(frozen=True)
class Report:
    """What a part found.

    Args:
        ratios: by name.
        growth: a row a size, where the part tries several.
        quality: what is compared, to measure to value.
    """

    ratios: Mapping[str, Ratio]
    growth: Sequence[Mapping[str, float]] = ()
    quality: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


def paired_ratio(ours: Measure, peer: Measure, runs: int) -> Ratio:
    """Measure both in turn; who goes first alternates, and the first pair warms up and isn't counted."""
    if runs < 10:
        raise ValueError(f"runs={runs}: a paired ratio needs at least 10")
    return summarize(list(in_turn(ours, peer, runs + 1))[1:])


def in_turn(ours: Measure, peer: Measure, runs: int) -> Iterator[tuple[float, float]]:
    """(ours, peer) of each run, as it ends; who goes first alternates."""
    for run in range(runs):
        if run % 2:
            theirs, own = peer(), ours()
        else:
            own, theirs = ours(), peer()
        yield own, theirs


def summarize(pairs: Sequence[tuple[float, float]], unit: str = "1/s") -> Ratio:
    """(ours, peer) of each pair to their ratio."""
    rates = np.asarray(pairs, dtype=np.float64)
    ratios = rates[:, 0] / rates[:, 1]
    drawn = np.random.default_rng(0).integers(len(ratios), size=(RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(ratios[drawn], axis=1), [2.5, 97.5])
    ours, peer = np.median(rates, axis=0)
    return Ratio(float(ours), float(peer), float(np.median(ratios)), (float(low), float(high)), unit)
