"""What the rest of trifuse asks of an encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Encoding:
    """The result of encoding n texts of which some may have been rejected.

    Args:
        vectors: (n, dim) float32, rows in the order of the texts; a rejected text's row is zero.
        truncated: (n,) bool, true where the text had more tokens than the model takes.
        rejected: position to reason.
    """

    vectors: Vectors
    truncated: NDArray[np.bool_]
    rejected: Mapping[int, str]


class Encoder(Protocol):
    """Texts to vectors of one space."""

    @property
    def space(self) -> EncoderSpace:
        """The space that vectors come out in."""

    @property
    def provider(self) -> str:
        """The device that does the work: `cpu`, `cuda:0`."""

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """Encode what can be encoded, and say of the rest why not."""

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32. Raises InvalidText where a text can't be encoded."""

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32. Raises InvalidText where a text can't be encoded."""
