"""Whether differences are more than chance: intervals and paired tests over queries. Pure.

Smucker, Allan, Carterette: A Comparison of Statistical Significance Tests for Information Retrieval
Evaluation, CIKM 2007 (the paired randomisation test, the t-test, the bootstrap); Holm: A Simple Sequentially
Rejective Multiple Test Procedure, 1979.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.errors import ExtraMissing

RESAMPLES = 10_000
SEED = 20_090_414

_CELLS = 4_000_000
"""So many random numbers are held at once."""

_EXACT = 13
"""Up to so many non-zero differences all signs are tried: 2^13 is less than `RESAMPLES`."""


def bootstrap_ci(
    values: Sequence[float], *, resamples: int = RESAMPLES, confidence: float = 0.95, seed: int = SEED
) -> tuple[float, float]:
    """The percentile bootstrap interval of the mean over queries.

    Args:
        values: (queries,).
        resamples: how often as many queries are drawn, with replacement.

    >>> bootstrap_ci([0.5, 0.5, 0.5])
    (0.5, 0.5)
    """
    data = _row(values)
    return bootstrap_ratio_ci(data, np.ones_like(data), resamples=resamples, confidence=confidence, seed=seed)


def bootstrap_ratio_ci(
    parts: NDArray[np.float64],
    wholes: NDArray[np.float64],
    *,
    resamples: int = RESAMPLES,
    confidence: float = 0.95,
    seed: int = SEED,
) -> tuple[float, float]:
    """The percentile bootstrap interval of sum(parts) / sum(wholes) over units that have several cases each.

    A sample that happens to have no case is left out.

    Args:
        parts, wholes: (units,), of how many cases of a unit something is true, and how many it has; at least
            one has a case.

    >>> bootstrap_ratio_ci(np.array([1.0, 2.0]), np.array([2.0, 4.0]))
    (0.5, 0.5)
    """
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(0, len(parts), (rows, len(parts))) for rows in _chunks(resamples, len(parts)))
    sums = np.concatenate([np.stack((parts[at].sum(axis=1), wholes[at].sum(axis=1))) for at in drawn], axis=1)
    sums = sums[:, sums[1] > 0]
    low, high = np.quantile(sums[0] / sums[1], [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def randomisation_p(differences: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> float:
    """The two-sided p of the paired randomisation test: how often random signs give as large a mean.

    Up to 13 differences that aren't 0, all signs are tried and p is exact; above, it is
    (1 + hits) / (1 + resamples).

    Args:
        differences: (queries,), the one system less the other.

    >>> randomisation_p([0.1, 0.2, 0.3])  # of 8 signs only +++ and --- reach the sum
    0.25
    """
    data = _row(differences)
    data = data[data != 0]  # a sign changes nothing about them
    if not len(data):
        return 1.0
    # Sums of the same numbers in another order differ in the last bits.
    observed = abs(data.sum()) * (1 - 1e-9)
    if len(data) <= _EXACT:
        bits = np.arange(2 ** len(data))[:, None] >> np.arange(len(data)) & 1
        return float(np.mean(np.abs((2 * bits - 1) @ data) >= observed))
    rng = np.random.default_rng(seed)
    hits = 0
    for rows in _chunks(resamples, len(data)):
        signs = rng.integers(0, 2, (rows, len(data)), dtype=np.int8) * 2 - 1
        hits += int(np.count_nonzero(np.abs(signs @ data) >= observed))
    return (1 + hits) / (1 + resamples)


def t_test_p(differences: Sequence[float]) -> float:
    """The two-sided p of the paired t-test; 1 where all differences are 0.

    Args:
        differences: (queries,), the one system less the other; at least two, or p is 1.

    Raises:
        ExtraMissing: SciPy, which comes with ir-measures, isn't installed.
    """
    data = _row(differences)
    if len(data) < 2 or not data.any():
        return 1.0
    spread = float(data.std(ddof=1))
    if spread == 0:
        return 0.0
    try:
        from scipy.special import stdtr
    except ImportError as error:
        raise ExtraMissing(f"the t-test needs SciPy ({error}): pip install 'trifuse[tune]'") from error
    statistic = abs(float(data.mean())) / (spread / math.sqrt(len(data)))
    return float(2 * stdtr(len(data) - 1, -statistic))


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment of several p: compare each with the level that one alone would have.

    >>> holm([0.04, 0.01, 0.03])  # 0.01 * 3; then 0.03 * 2; then 0.04 * 1, and never less than before it
    [0.06, 0.03, 0.06]
    """
    adjusted = [1.0] * len(p_values)
    running = 0.0
    for place, at in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        running = max(running, min(1.0, p_values[at] * (len(p_values) - place)))
        adjusted[at] = running
    return adjusted


def _row(values: Sequence[float]) -> NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or not len(data) or not np.isfinite(data).all():
        raise ValueError(f"expected finite numbers, one a query and at least one, got shape {data.shape}")
    return data


def _chunks(rows: int, columns: int) -> list[int]:
    """Row counts that sum to `rows`, each of at most `_CELLS` cells."""
    most = max(1, _CELLS // columns)
    return [min(most, rows - start) for start in range(0, rows, most)]
