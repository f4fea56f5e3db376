"""Vectors of trials by encoders that are given plain texts, and by encoders of parts; kept on disk.

with Vectors(Path("cache")) as vectors: vectors.of("bge-small-en-v1.5", texts)
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np
from kept_encoder import FOLDER, KeptEncoder, kept_encoder

from trifuse.encoder.parts import join_parts
from trifuse.encoder.pooling import unit_norm
from trifuse.encoder.types import Vectors as Rows

CHUNK_WORDS = 200
WHITENED = 256
_AT_ONCE = 256


class Vectors:
    """Encoders that are opened when they are needed, and keep what they made when this ends.

    Args:
        folder: of the vectors: a file for each model, by its space's id; in it a vector by its text's hash.
    """

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._stack = ExitStack()
        self._encoders: dict[str, KeptEncoder] = {}

    def __enter__(self) -> Vectors:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def encoder(self, name: str) -> KeptEncoder:
        """The encoder of that name or folder.

        Raises:
            ModelNotFound, ModelInvalid: there is none.
        """
        if name not in self._encoders:
            self._encoders[name] = self._stack.enter_context(kept_encoder(name, self._folder))
        return self._encoders[name]

    def of(self, name: str, texts: Sequence[str]) -> Rows:
        """(n, dim) float32, in the order of the texts; zero where one can't be encoded or is empty."""
        encoder = self.encoder(name)
        found = np.zeros((len(texts), encoder.space.dimension), dtype=np.float32)
        by_length = sorted(range(len(texts)), key=lambda place: len(texts[place]))  # little padding
        for start in range(0, len(texts), _AT_ONCE):
            places = by_length[start : start + _AT_ONCE]
            found[places] = encoder.encode([texts[place] for place in places], role="document").vectors
            print(f"{name}: {start + len(places)} of {len(texts)} texts", file=sys.stderr)
        return found

    def of_parts(self, name: str, items: Sequence[Mapping[str, str]]) -> Rows:
        """(n, dim) float32, of trials by the texts of their parts; zero where one has none."""
        return self.of(name, [join_parts(item) for item in items])

    def mean_of_chunks(self, name: str, texts: Sequence[str]) -> Rows:
        """(n, dim) float32, unit norm: the mean over pieces of 200 words each."""
        pieces = [list(chunks(text)) for text in texts]
        vectors = self.of(name, [piece for each in pieces for piece in each])
        ends = np.cumsum([len(each) for each in pieces])
        return unit_norm(np.stack([part.mean(axis=0) for part in np.split(vectors, ends[:-1])]))


def chunks(text: str, words: int = CHUNK_WORDS) -> Iterator[str]:
    """Pieces of so many words; the last one may have fewer. A text without words is one piece.

    >>> list(chunks("a b c", 2))
    ['a b', 'c']
    """
    every = text.split()
    for start in range(0, max(len(every), 1), words):
        yield " ".join(every[start : start + words])


def whitened(vectors: Rows, learned: Rows, dimension: int = WHITENED) -> Rows:
    """(n, dimension) float32, unit norm: vectors less the mean, turned and scaled so that the learned ones
    have the identity as covariance; the axes of the largest variance stay.

    Huang et al. 2021, WhiteningBERT; Su et al. 2021, "Whitening Sentence Representations for Better Semantics
    and Faster Retrieval".

    Args:
        learned: (m, dim), from which mean and axes are found.
    """
    centre = learned.mean(axis=0)
    axes, variances, _ = np.linalg.svd(np.cov((learned - centre).T))
    turned = (vectors - centre) @ (axes[:, :dimension] / np.sqrt(np.maximum(variances[:dimension], 1e-12)))
    return unit_norm(turned.astype(np.float32))
