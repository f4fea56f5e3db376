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
    falling = -scores
    if k is None or k >= documents:
        return np.argsort(falling, axis=1, kind="stable")
    last = np.partition(falling, k - 1, axis=1)[:, k - 1 : k]
    within = falling <= last
    # Where others have the very score of the last there are more than k: of those the first rows count.
    tied = np.flatnonzero(np.count_nonzero(within, axis=1) > k)
    if len(tied):
        rows = np.argsort(falling[tied], axis=1, kind="stable")[:, :k]
        within[tied] = False
        within[tied[:, None], rows] = True
    places = np.flatnonzero(within)
    best = (places % documents).reshape(-1, k)
    order = np.argsort(falling.ravel()[places].reshape(-1, k), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
