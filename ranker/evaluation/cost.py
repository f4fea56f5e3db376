"""What the click leg adds to the time of a search, from paired timings. Pure.

Each query is searched with and without the leg in the same round, one right after the other, so that what
slows the machine for a while slows both. Intervals are of bootstrap resamples of the queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.evaluation.significance import SEED

RESAMPLES = 2_000

Times = NDArray[np.float64]
"""(queries, rounds) milliseconds."""

Statistic = Callable[[Times], float]

STATISTICS: Mapping[str, Statistic] = {
    "p50": lambda times: float(np.quantile(times, 0.5)),
    "p95": lambda times: float(np.quantile(times, 0.95)),
    "mean": lambda times: float(np.mean(times)),
}


@dataclass(frozen=True)
class Timed:
    """One statistic of the time of a search, with the click leg and without.

    Args:
        with_ms, without_ms: over all searches.
        added_ms, added_ci95: of the paired differences, so that `added_ms` of p50 is what half of the
            searches stay below, and no difference of two p50.
        ratio, ratio_ci95: `with_ms` over `without_ms`.
    """

    with_ms: float
    without_ms: float
    added_ms: float
    added_ci95: tuple[float, float]
    ratio: float
    ratio_ci95: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def timed(
    with_leg: Times, without: Times, *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Timed]:
    """Each of `STATISTICS` over paired timings.

    Args:
        with_leg, without: (queries, rounds) milliseconds; the same query and round at the same place.
    """
    if with_leg.shape != without.shape or with_leg.ndim != 2 or not with_leg.size:
        raise ValueError(
            f"expected two tables of (queries, rounds), got shapes {with_leg.shape} and {without.shape}"
        )
    rng = np.random.default_rng(seed)
    draws = [rng.integers(0, len(with_leg), len(with_leg)) for _ in range(resamples)]
    added = with_leg - without
    found = {}
    for name, statistic in STATISTICS.items():
        ratios = [statistic(with_leg[rows]) / statistic(without[rows]) for rows in draws]
        found[name] = Timed(
            with_ms=statistic(with_leg),
            without_ms=statistic(without),
            added_ms=statistic(added),
            added_ci95=_ends([statistic(added[rows]) for rows in draws]),
            ratio=statistic(with_leg) / statistic(without),
            ratio_ci95=_ends(ratios),
        )
    return found


def _ends(values: list[float]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)
