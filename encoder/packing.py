"""The tokens of a document's parts in one row, without padding between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.encoder.parts import Part
from trifuse.encoder.tokens import TextTokenizer

Ids = NDArray[np.int64]


class Packed(NamedTuple):
    """The tokens of one document, or of a batch of them: (length,) or (rows, length) int64 each.

    Args:
        ids: of the tokens.
        positions: in their part, from 0.
        parts: which part a token is of, from 1; 0 is padding.
    """

    ids: Ids
    positions: Ids
    parts: Ids


def pack(parts: Iterable[tuple[int, Sequence[int]]]) -> Packed:
    """The tokens of parts, one part after the other.

    Args:
        parts: number, from 1, and token ids of each.

    >>> [row.tolist() for row in pack([(1, [7, 8]), (4, [9])])]
    [[7, 8, 9], [0, 1, 0], [1, 1, 4]]
    """
    found = list(parts)
    return Packed(
        np.array([token for _, ids in found for token in ids], dtype=np.int64),
        np.array([position for _, ids in found for position in range(len(ids))], dtype=np.int64),
        np.array([number for number, ids in found for _ in ids], dtype=np.int64),
    )


def pad(rows: Sequence[Packed], pad_id: int) -> Packed:
    """Documents as one batch, padded on the right; its length is at least 1."""
    lengths = np.array([len(row.ids) for row in rows])
    mask = np.arange(max(1, lengths.max()))[None, :] < lengths[:, None]
    padded = Packed(
        np.full(mask.shape, pad_id, dtype=np.int64),
        np.zeros(mask.shape, dtype=np.int64),
        np.zeros(mask.shape, dtype=np.int64),
    )
    for target, *columns in zip(padded, *rows, strict=True):
        target[mask] = np.concatenate(columns)
    return padded


def present(parts: Ids, count: int) -> NDArray[np.bool_]:
    """(rows, count) bool: which parts have a token, of (rows, length) part numbers."""
    found: NDArray[np.bool_] = (parts[:, :, None] == np.arange(1, count + 1)).any(axis=1)
    return found


class PartsTokenizer:
    """Documents of parts to packed tokens: each part by itself, with special tokens and a limit of its own.

    Args:
        path: a `tokenizer.json`.
        parts: those that there are, in the order in which they are counted.

    Raises:
        ModelInvalid: the file isn't a tokenizer.
    """

    def __init__(self, path: Path, parts: Sequence[Part]) -> None:
        by_limit = {limit: TextTokenizer(path, limit) for limit in {part.max_tokens for part in parts}}
        self._tokenizers = {part.name: by_limit[part.max_tokens] for part in parts}
        self._pad_id = next(iter(by_limit.values())).pad_id

    def tokenize(self, items: Sequence[Mapping[str, str]]) -> tuple[list[Packed], NDArray[np.bool_]]:
        """The tokens of each document, and which of its parts were cut: (n, parts) bool.

        Args:
            items: part to text; a part that isn't in it is missing.
        """
        tokens: list[list[tuple[int, Sequence[int]]]] = [[] for _ in items]
        cut = np.zeros((len(items), len(self._tokenizers)), dtype=np.bool_)
        for column, (name, tokenizer) in enumerate(self._tokenizers.items()):
            rows = [row for row, parts in enumerate(items) if name in parts]
            found, cut[rows, column] = tokenizer.tokenize([items[row][name] for row in rows])
            for row, each in zip(rows, found, strict=True):
                tokens[row].append((column + 1, each.ids))
        return [pack(parts) for parts in tokens], cut

    def pad(self, rows: Sequence[Packed]) -> Packed:
        """Documents as one batch, padded on the right to the longest; its length is at least 1."""
        return pad(rows, self._pad_id)
