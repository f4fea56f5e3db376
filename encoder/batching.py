"""Batches under a token budget: texts of like length together, so that little is padded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


def token_batches(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.intp]]:
    """Positions of the texts of each batch, longest texts first.

    A batch is padded to its longest text, so that it costs rows × longest tokens: no batch costs more than
    the budget, unless a single text does.

    >>> [batch.tolist() for batch in token_batches([3, 9, 4, 8], budget=18)]
    [[1, 3], [2, 0]]
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        rows = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + rows]
        start += rows
