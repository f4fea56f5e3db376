"""Token vectors to one vector a text."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.types import Vectors


def pool(tokens: Vectors, mask: NDArray[np.int64], pooling: Literal["cls", "mean"]) -> Vectors:
    """(rows, length, dim) token vectors and their (rows, length) mask to (rows, dim) float32.

    A row without any token becomes zeros.
    """
    weights = mask.astype(np.float32)
    if pooling == "cls":
        return tokens[:, 0] * weights[:, :1]
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
    pooled: Vectors = np.einsum("rl,rld->rd", weights, tokens)
    return pooled


def unit_norm(vectors: Vectors) -> Vectors:
    """(..., dim) vectors brought to unit norm; a row of zeros stays one (and is refused later)."""
    with np.errstate(invalid="ignore"):  # infinity / infinity: such a row is refused later, too
        norms = np.linalg.norm(vectors.astype(np.float64), axis=-1, keepdims=True)
        norms[norms == 0] = 1
        unit: Vectors = (vectors / norms).astype(np.float32)
    return unit
