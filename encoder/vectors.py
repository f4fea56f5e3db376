"""What a vector must be before it is written or compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trifuse.encoder.errors import InvalidVector
from trifuse.encoder.types import Vectors


def vector_faults(vectors: Vectors) -> dict[int, str]:
    """Row to reason, for (n, dim) vectors that no similarity is defined for.

    The squared norm is what cosine and inner product stand on: in float32 it must be neither 0 (no direction)
    nor infinite (1e30 in one place does that).
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squared = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32)
    faults: dict[int, str] = {}
    for row in np.flatnonzero(~(np.isfinite(squared) & (squared > 0))).tolist():
        vector = vectors[row]
        if np.isnan(vector).any():
            faults[row] = "it has NaN"
        elif np.isinf(vector).any():
            faults[row] = "it has an infinity"
        elif not vector.any():
            faults[row] = "it is all zeros"
        else:
            largest = np.abs(vector).max()
            faults[row] = f"its norm is beyond float32 (largest number {largest:.3g})"
    return faults


def clear_faults(vectors: Vectors, positions: Sequence[int]) -> dict[int, str]:
    """Make zero, in place, the rows that no similarity is defined for; position to reason for each.

    Args:
        vectors: (n, dim), as a model gave them.
        positions: what the rows are called.
    """
    faults = vector_faults(vectors)
    vectors[list(faults)] = 0
    return {positions[row]: f"the model's vector can't be used: {why}" for row, why in faults.items()}


def check_vectors(vectors: Vectors, dimension: int, *, names: Sequence[str] | None = None) -> None:
    """Refuse vectors that must not be sent: to be called with (n, dim) float32 before every write and query.

    Args:
        vectors: the rows to check.
        dimension: what the field, or the space, has.
        names: what to call the rows in the message (document ids); their positions if None.

    Raises:
        InvalidVector: naming the first rows at fault and why.
    """
    if vectors.ndim != 2 or vectors.shape[1] != dimension:
        raise InvalidVector(f"vectors of shape {vectors.shape}, expected (n, {dimension})")
    faults = vector_faults(vectors)
    if faults:
        shown = "; ".join(
            f"{names[row] if names is not None else row}: {reason}"
            for row, reason in list(faults.items())[:5]
        )
        more = f" and {len(faults) - 5} more" if len(faults) > 5 else ""
        raise InvalidVector(f"{len(faults)} of {len(vectors)} vectors can't be used ({shown}{more})")
