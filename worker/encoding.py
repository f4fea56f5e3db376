"""Encode the texts of a batch even where one of them makes the model fail."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trifuse.encoder.errors import EncodingFailed
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoder, Encoding
from trifuse.encoder.vectors import vector_faults


def encode_each(encoder: Encoder, texts: Sequence[str], role: Role, *, field: str) -> Encoding:
    """The encoding of all texts; where the model fails on them together, of each alone.

    Args:
        field: the vector field, for the reasons.

    Raises:
        EncodingFailed: the model fails on each of several texts: that is no fault of theirs.
    """
    try:
        encoding = encoder.encode(texts, role=role)
    except EncodingFailed as error:
        if len(texts) == 1:
            vectors = np.zeros((1, encoder.space.dimension), dtype=np.float32)
            return Encoding(vectors, np.zeros(1, dtype=np.bool_), {0: f"the model fails on it: {error}"})
        encoding = _alone(encoder, texts, role, field=field)
        if len(encoding.rejected) == len(texts):
            raise
    faults = vector_faults(encoding.vectors)
    refused = {row: f"the vector for field {field!r} can't be used: {why}" for row, why in faults.items()}
    return Encoding(encoding.vectors, encoding.truncated, refused | dict(encoding.rejected))


def _alone(encoder: Encoder, texts: Sequence[str], role: Role, *, field: str) -> Encoding:
    parts = [encode_each(encoder, [text], role, field=field) for text in texts]
    return Encoding(
        np.concatenate([part.vectors for part in parts]),
        np.concatenate([part.truncated for part in parts]),
        {row: part.rejected[0] for row, part in enumerate(parts) if part.rejected},
    )
