"""The first documents of many rankings at once. Pure NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.types import Floats

Rows = NDArray[np.int64]


def first(scores: Floats, k: int | None) -> Rows:
    """The rows of the best k documents of each setting, (settings, k or all), equal scores by row.

    Args:
        scores: (settings, documents).
        k: None: all.

    >>> first(np.array([[0.1, 0.5, 0.5, 0.2]]), 2).tolist()
    [[1, 2]]
    """
    documents = scores.shape[1]
    if k is None or k >= documents:
        return np.argsort(-scores, axis=1, kind="stable")
    falling = -scores
    best = np.sort(np.argpartition(falling, k - 1, axis=1)[:, :k], axis=1)
    values = np.take_along_axis(falling, best, axis=1)
    chosen = np.take_along_axis(best, np.argsort(values, axis=1, kind="stable"), axis=1)
    # Where others have the very score of the last that was chosen, the partition may have taken a later row.
    last = values.max(axis=1, keepdims=True)
    tied = np.flatnonzero(np.count_nonzero(falling <= last, axis=1) > k)
    if len(tied):
        chosen[tied] = np.argsort(falling[tied], axis=1, kind="stable")[:, :k]
    return chosen
