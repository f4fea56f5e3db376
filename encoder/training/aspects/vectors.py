"""Vectors of sentences that are made once, by the very encoder that indexes: adapters never move them."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from trifuse.encoder.types import Encoder, Vectors

_TEXTS = 256


def sentence_vectors(
    encoder: Encoder,
    texts: Iterable[str],
    folder: Path,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> dict[str, Vectors]:
    """Each text's (dim,) float32 vector as a document; those that the folder has aren't made again.

    Args:
        folder: of all encoders' vectors, one subfolder for each space.
        progress: told how many are there, and of how many.

    Raises:
        InvalidText, InvalidVector: a text can't be encoded.
    """
    kept = folder / encoder.space.id
    kept.mkdir(parents=True, exist_ok=True)
    wanted = sorted(set(texts), key=lambda text: (len(text), text))
    found: dict[str, Vectors] = {}
    for start in range(0, len(wanted), _TEXTS):
        some = wanted[start : start + _TEXTS]
        file = kept / f"{hashlib.sha256(chr(0).join(some).encode()).hexdigest()[:32]}.npy"
        vectors = _read(file, (len(some), encoder.space.dimension))
        if vectors is None:
            vectors = encoder.encode_documents(some)
            _write(file, vectors)
        found.update(zip(some, vectors, strict=True))
        progress(len(found), len(wanted))
    return found


def _read(file: Path, shape: tuple[int, int]) -> Vectors | None:
    try:
        found = np.load(file)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile):  # not there, or damaged: made again
        return None
    whole = getattr(found, "shape", None) == shape and found.dtype == np.float32 and np.isfinite(found).all()
    return found if whole else None


def _write(file: Path, vectors: Vectors) -> None:
    new = file.with_suffix(".new")
    with new.open("wb") as stream:
        np.save(stream, vectors)
    new.replace(file)
