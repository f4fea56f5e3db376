"""Whether a model does here what its description says: probe texts, together and one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoder, Encoding

PARITY = 1e-5
"""How far a number of a vector of norm 1 may move with the other texts of a call."""

NORM = 1e-4
"""How far a norm may be from 1 where the space says that it is 1."""

SHORT = (
    "Aspirin",
    "Low back pain in nurses",
    "β-blocker (≥ 50 mg/day) vs. ‘usual care’; p<0.05",
    "睡眠 und Schlaf",
)
LONG = "The harbour's tide table lists the height of the water for every hour of the coming year. " * 200
"""Longer than any model takes."""


@dataclass(frozen=True)
class EncoderCheck:
    """What the probe texts showed.

    Args:
        space: of the model's vectors.
        provider: the device that did the work.
        texts: how many probe texts were encoded, as documents and as queries.
        truncated: which of them were flagged as cut; the last alone should be.
        norms: the smallest and the largest.
        parity: the largest difference between a text's vector among others and alone, of the vector's norm.
        roles_differ: whether a text's vector as a query is another than as a document.
        towers: 2 where queries have a graph of their own.
        faults: what isn't as the description says; empty where all is well.
    """

    space: EncoderSpace
    provider: str
    texts: int
    truncated: tuple[int, ...]
    norms: tuple[float, float]
    parity: float
    roles_differ: bool
    towers: int
    faults: tuple[str, ...]


def check_encoder(encoder: Encoder) -> EncoderCheck:
    """Encode the probe texts together and one by one, and compare."""
    texts = [*SHORT, LONG]
    together = encoder.encode(texts, role="document")
    queries = encoder.encode(texts, role="query")
    towers = 2 if encoder.space.query_tower else 1
    norms = np.linalg.norm(together.vectors, axis=1)
    parity = _parity(encoder, texts, together, "document")
    if towers == 2:
        parity = max(parity, _parity(encoder, texts, queries, "query"))
    truncated = tuple(np.flatnonzero(together.truncated).tolist())
    faults = [f"text {position} was rejected: {reason}" for position, reason in together.rejected.items()]
    if parity > PARITY:
        faults.append(f"a text's vector moves by {parity:.2g} with its neighbours, expected {PARITY} at most")
    if encoder.space.normalized and np.abs(norms - 1).max() > NORM:
        faults.append(f"norms from {norms.min():.6f} to {norms.max():.6f}, expected 1")
    if truncated != (len(texts) - 1,):
        faults.append(f"texts {list(truncated)} were flagged as cut, expected the last one, {len(texts) - 1}")
    return EncoderCheck(
        space=encoder.space,
        provider=encoder.provider,
        texts=len(texts),
        truncated=truncated,
        norms=(float(norms.min()), float(norms.max())),
        parity=parity,
        towers=towers,
        roles_differ=bool(np.abs(queries.vectors - together.vectors).max() > PARITY),
        faults=tuple(faults),
    )


def _parity(encoder: Encoder, texts: list[str], together: Encoding, role: Role) -> float:
    """The largest difference between the vectors of texts encoded together and one by one."""
    alone = np.concatenate([encoder.encode([text], role=role).vectors for text in texts])
    norms = np.linalg.norm(together.vectors, axis=1, keepdims=True)
    return float((np.abs(together.vectors - alone) / np.where(norms > 0, norms, 1)).max())
