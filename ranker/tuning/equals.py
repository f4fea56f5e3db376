"""Which settings are worse than the best by more than chance, where many are compared at once. Pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.evaluation.significance import SEED
from trifuse.ranker.types import Floats

RESAMPLES = 2_000
_CELLS = 4_000_000


def worse_p(values: Floats, best: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> Floats:
    """For each setting the p of being no worse than the best, adjusted for all of them, (settings,).

    The paired randomisation test with the maximum over settings of the studentised difference (Westfall and
    Young 1993, Resampling-Based Multiple Testing; Carterette 2012, Multiple Testing in Statistical Analysis
    of Systems-Based Information Retrieval Experiments, TOIS): the same random signs for all settings keep
    what they have in common, so the adjustment isn't lost on settings that are nearly the same. One-sided.
    The best itself, and what equals it on every query, has 1.

    Args:
        values: (settings, queries).
        best: position of the setting that the others are compared with.
    """
    differences = values[best] - values
    length = np.sqrt((differences**2).sum(axis=1))
    rows = np.flatnonzero(length > 0)
    p = np.ones(len(values))
    if not len(rows):
        return p
    unit = differences[rows] / length[rows, None]
    observed = unit.sum(axis=1)
    maxima = _maxima(unit, resamples, seed)
    # Sums of the same numbers in another order differ in the last bits.
    reached = len(maxima) - np.searchsorted(maxima, observed * (1 - 1e-9), side="left")
    p[rows] = (1 + reached) / (1 + resamples)
    return p


def _maxima(unit: Floats, resamples: int, seed: int) -> Floats:
    """The largest statistic under each draw of signs, ascending."""
    rng = np.random.default_rng(seed)
    chunk = max(1, _CELLS // max(unit.shape))
    found: list[NDArray[np.float64]] = []
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        signs = rng.integers(0, 2, (rows, unit.shape[1])) * 2.0 - 1.0
        found.append((signs @ unit.T).max(axis=1))
    return np.sort(np.concatenate(found))
