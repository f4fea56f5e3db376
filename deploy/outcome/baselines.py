"""What the vectors of an index are held against: features of the same texts, made without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.deploy.outcome.texts import tfidf, word_vectors
from trifuse.encoder.types import Encoder, Vectors

_AT_ONCE = 256


def baseline_features(
    texts: Sequence[str],
    train: NDArray[np.bool_],
    encoder: Encoder,
    *,
    seed: int = 0,
    progress: Callable[[int, str], None] = lambda done, said: None,
) -> dict[str, Any]:
    """Method to (n, dimension): `tf-idf`, `word vectors`, and `flat`, an encoder of plain texts.

    Args:
        texts: the texts that the vectors were made of.
        train: (n,) bool, the texts that words are learned from.
        encoder: cuts a text where it takes no more tokens.
        progress: told how many texts are encoded, and a word on them.

    Raises:
        TrialsMissing: scikit-learn isn't installed.
    """
    return {
        "tf-idf": tfidf(texts, train),
        "word vectors": word_vectors(texts, train, seed=seed),
        "flat": flat_vectors(texts, encoder, progress),
    }


def flat_vectors(texts: Sequence[str], encoder: Encoder, progress: Callable[[int, str], None]) -> Vectors:
    """(n, dimension) float32, the texts as documents; zero where one can't be encoded."""
    rows = []
    for start in range(0, len(texts), _AT_ONCE):
        rows.append(encoder.encode(texts[start : start + _AT_ONCE], role="document").vectors)
        progress(min(start + _AT_ONCE, len(texts)), "")
    return np.concatenate(rows)
