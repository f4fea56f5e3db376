"""An encoder whose vectors are kept on disk: benchmarks that don't time the encoder wait for it once.

with kept_encoder("bge-small-en-v1.5-int8") as encoder: ...
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from trifuse.encoder import load_encoder
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoder, Encoding, Vectors

FOLDER = Path(__file__).parent.parent / ".cache" / "vectors"
BATCH = 64


class KeptEncoder:
    """Gives a text that it has met before its vector of then.

    Args:
        encoder: makes the others.
        vectors: digest of role and text to (dim,) float32; filled as it goes.
    """

    def __init__(self, encoder: Encoder, vectors: dict[str, Vectors]) -> None:
        self._encoder = encoder
        self.vectors = vectors

    @property
    def space(self) -> EncoderSpace:
        """The encoder's."""
        return self._encoder.space

    @property
    def provider(self) -> str:
        """The encoder's."""
        return self._encoder.provider

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """As the encoder does; what it rejected is asked of it again each time."""
        digests = [_digest(role, text) for text in texts]
        new = [place for place, digest in enumerate(digests) if digest not in self.vectors]
        found = np.zeros((len(texts), self.space.dimension), dtype=np.float32)
        truncated = np.zeros(len(texts), dtype=np.bool_)
        rejected: dict[int, str] = {}
        for start in range(0, len(new), BATCH):
            places = new[start : start + BATCH]
            made = self._encoder.encode([texts[place] for place in places], role=role)
            truncated[places] = made.truncated
            for row, place in enumerate(places):
                if row in made.rejected:
                    rejected[place] = made.rejected[row]
                else:
                    self.vectors[digests[place]] = made.vectors[row]
        for place, digest in enumerate(digests):
            if digest in self.vectors:
                found[place] = self.vectors[digest]
        return Encoding(found, truncated, rejected)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32; a rejected text's row is zero."""
        return self.encode(texts, role="query").vectors

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32; a rejected text's row is zero."""
        return self.encode(texts, role="document").vectors


@contextmanager
def kept_encoder(name: str, folder: Path = FOLDER) -> Iterator[KeptEncoder]:
    """The encoder of that name or folder, with what earlier runs kept; what is new is kept at the end."""
    encoder = load_encoder(name)
    path = folder / f"{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}-{encoder.space.id}.npz"
    kept = KeptEncoder(encoder, _read(path))
    known = len(kept.vectors)
    try:
        yield kept
    finally:
        if len(kept.vectors) > known:
            _write(path, _read(path) | kept.vectors)


def _read(path: Path) -> dict[str, Vectors]:
    if not path.exists():
        return {}
    with np.load(path) as stored:
        return dict(zip(stored["digests"].tolist(), stored["vectors"], strict=True))


def _write(path: Path, vectors: Mapping[str, Vectors]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.{os.getpid()}.npz")
    np.savez(part, digests=np.array(list(vectors)), vectors=np.stack(list(vectors.values())))
    part.replace(path)


def _digest(role: str, text: Any) -> str:
    return hashlib.blake2b(f"{role}\n{text!r}".encode("utf-8", "replace"), digest_size=12).hexdigest()
