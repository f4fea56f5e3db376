"""Vectors of parts' texts that are made once: a frozen backbone gives the same for the same text.

A file of the folder holds some hundred texts. It has its name only once it is whole, so that a run that was
ended goes on where it was, and it is of one backbone: the folder has one subfolder for each.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.packing import PackedTokens, Packer
from trifuse.encoder.types import Vectors

_TOKENS = 2048
_TEXTS = 1024
_KEY_BYTES = 16


class KeptVectors:
    """The backbone's vectors of parts, on the disk and in memory.

    Args:
        model: gives a part's vector; its backbone must not be trained meanwhile.
        packer: makes tokens of parts.
        tokenizer: the file that the packer reads.
        folder: of all backbones' vectors.
    """

    def __init__(self, model: Trial2Vec, packer: Packer, tokenizer: Path, folder: Path) -> None:
        self._model = model
        self._packer = packer
        self._folder = folder / backbone_key(model.backbone, model.pooling, tokenizer)
        self._limits = {part.name: part.max_tokens for part in model.parts}
        self._width = int(model.backbone.config.hidden_size)
        self._wanted: dict[bytes, tuple[str, str]] = {}
        self._rows: dict[bytes, int] = {}
        self._vectors = np.zeros((0, self._width), dtype=np.float32)

    def keep(
        self, items: Iterable[Mapping[str, str]], progress: Callable[[int, int], None] = lambda done, of: None
    ) -> None:
        """Make the vectors that aren't there yet, of all parts of all items.

        Args:
            progress: told how many texts are done, and of how many.
        """
        wanted = dict(self._wanted)
        for item in items:
            for name, text in item.items():
                if name in self._limits and text:
                    wanted.setdefault(self._key(name, text), (name, text))
        found = list(self._read())
        known = {key for keys, _ in found for key in keys}
        missing = sorted(
            ((key, *text) for key, text in wanted.items() if key not in known),
            key=lambda each: (len(each[2]), each[0]),
        )
        done = len(wanted) - len(missing)
        progress(done, len(wanted))
        for start in range(0, len(missing), _TEXTS):
            some = missing[start : start + _TEXTS]
            found.append(
                ([key for key, _, _ in some], self._encoded([(name, text) for _, name, text in some]))
            )
            self._write(*found[-1])
            done += len(some)
            progress(done, len(wanted))
        self._wanted = wanted
        self._take(found, wanted)

    def tensors(self, items: Sequence[Mapping[str, str]]) -> tuple[Tensor, Tensor]:
        """(items, parts, width) float32 and (items, parts) bool, of parts that were kept."""
        rows = np.array(
            [
                [self._rows[self._key(name, item[name])] if item.get(name) else -1 for name in self._limits]
                for item in items
            ]
        )
        there = rows >= 0
        vectors = np.zeros((*rows.shape, self._width), dtype=np.float32)
        vectors[there] = self._vectors[rows[there]]
        return torch.from_numpy(vectors), torch.from_numpy(there)

    def _key(self, name: str, text: str) -> bytes:
        """A text is encoded alone, so that which part it is matters only for where it is cut."""
        return hashlib.sha256(f"{self._limits[name]}/{text}".encode()).digest()[:_KEY_BYTES]

    @torch.no_grad()
    def _encoded(self, texts: Sequence[tuple[str, str]]) -> Vectors:
        """(n, width) float32 of parts' texts, of about the same length each."""
        self._model.eval()
        device = next(self._model.parameters()).device
        vectors = np.zeros((len(texts), self._width), dtype=np.float32)
        at = 0
        while at < len(texts):
            longest = max(self._limits[name] for name, _ in texts[at:])
            rows = max(1, _TOKENS // min(longest, 1 + len(texts[-1][1])))
            packed = self._packer.tensors([{name: text} for name, text in texts[at : at + rows]])
            pooled, _ = self._model.pooled(*PackedTokens(*(column.to(device) for column in packed)))
            vectors[at : at + rows] = pooled.sum(1).cpu().numpy()  # all but one of the parts are zero
            at += rows
        return vectors

    def _take(
        self,
        found: Sequence[tuple[Sequence[bytes], Vectors]],
        wanted: Mapping[bytes, object],
    ) -> None:
        """Hold what is wanted in memory, and nothing else that the folder has."""
        chosen = [[place for place, key in enumerate(keys) if key in wanted] for keys, _ in found]
        self._vectors = np.concatenate(
            [np.zeros((0, self._width), dtype=np.float32)]
            + [vectors[places] for places, (_, vectors) in zip(chosen, found, strict=True)]
        )
        numbers = count()
        self._rows = {
            keys[place]: next(numbers)
            for places, (keys, _) in zip(chosen, found, strict=True)
            for place in places
        }

    def _read(self) -> Iterable[tuple[list[bytes], Vectors]]:
        for path in sorted(self._folder.glob("*.npz")):
            try:
                with path.open("rb") as file, np.load(file) as found:
                    keys, vectors = found["keys"], found["vectors"]
            except (OSError, ValueError, KeyError, zipfile.BadZipFile):
                continue  # damaged: made again
            if vectors.shape == (len(keys), self._width):
                yield [key.tobytes() for key in keys], vectors

    def _write(self, keys: Sequence[bytes], vectors: Vectors) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{hashlib.sha256(b''.join(keys)).hexdigest()[:32]}.npz"
        new = path.with_suffix(".new")
        with new.open("wb") as file:
            np.savez(
                file,
                keys=np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, _KEY_BYTES),
                vectors=vectors,
            )
        new.replace(path)


def backbone_key(backbone: Any, pooling: str, tokenizer: Path) -> str:
    """What a part's vector depends on beside its text: the backbone's weights, tokenizer and pooling."""
    found = hashlib.sha256(pooling.encode())
    found.update(tokenizer.read_bytes())
    for name, weight in sorted(backbone.state_dict().items()):
        found.update(name.encode())
        found.update(weight.detach().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:32]
