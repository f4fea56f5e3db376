"""Token vectors to one vector a text."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.types import Vectors


def pool(tokens: Vectors, mask: NDArray[np.int64], pooling: Literal["cls", "mean"]) -> Vectors:
    """(rows, length, dim) token vectors and their (rows, length) mask to (rows, dim) float32."""
    if pooling == "cls":
        return np.ascontiguousarray(tokens[:, 0], dtype=np.float32)
    weights = mask.astype(np.float32)
    weights /= weights.sum(axis=1, keepdims=True)
    pooled: Vectors = np.einsum("rl,rld->rd", weights, tokens)
    return pooled


def unit_norm(vectors: Vectors) -> Vectors:
    """Rows brought to unit norm; a row of zeros stays one (and is refused later)."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    norms[norms == 0] = 1
    unit: Vectors = vectors / norms
    return unit
