"""Texts to token ids. Padding and truncation are always ours, whatever the tokenizer's file has baked in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from trifuse.encoder.errors import ModelInvalid

CHARS_PER_TOKEN = 64
"""A text is cut to so many characters a token before it is tokenised, so that 25 MB hold up nobody."""

Ids = NDArray[np.int64]


class TextTokenizer:
    """A tokenizer that cuts at `max_tokens` and says so.

    Args:
        path: a `tokenizer.json`.
        max_tokens: of a text, with its special tokens.
        separator: the special token that parts the two texts of a pair, `[SEP]`: where it stands in a text,
            what follows has token type 1, as if a pair had been given ("title [SEP] abstract"). "": no pairs.

    Raises:
        ModelInvalid: the file isn't a tokenizer, or has no such token.

    `pad_id` is the token that the model was trained to see as padding.
    """

    def __init__(self, path: Path, max_tokens: int, *, separator: str = "") -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises nothing narrower
            raise ModelInvalid(f"{path} can't be read as a tokenizer: {error}") from error
        self.pad_id = _pad_id(self._tokenizer)
        self._separator_id = self._tokenizer.token_to_id(separator) if separator else None
        if separator and self._separator_id is None:
            raise ModelInvalid(f"{path} has no token {separator!r}, which trifuse.json says parts a pair")
        self._max_chars = max_tokens * CHARS_PER_TOKEN
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=max_tokens)

    def tokenize(self, texts: Sequence[str]) -> tuple[list[Encoding], NDArray[np.bool_]]:
        """The tokens of each text, and whether it was cut: (n,) bool."""
        cut = [len(text) > self._max_chars for text in texts]
        tokens = self._tokenizer.encode_batch_fast([text[: self._max_chars] for text in texts])
        overflowed = [bool(item.overflowing) for item in tokens]
        return tokens, np.asarray(cut, dtype=np.bool_) | np.asarray(overflowed, dtype=np.bool_)

    def pad(self, rows: Sequence[Encoding]) -> tuple[Ids, Ids, Ids]:
        """(rows, longest) token ids, attention mask and token types, padded on the right.

        A text may have no token at all (no special tokens, and all of it stripped): longest is at least 1.
        """
        lengths = np.array([len(row) for row in rows])
        mask = np.arange(max(1, lengths.max()))[None, :] < lengths[:, None]
        ids = np.full(mask.shape, self.pad_id, dtype=np.int64)
        types = np.zeros(mask.shape, dtype=np.int64)
        ids[mask] = np.concatenate([row.ids for row in rows])
        types[mask] = np.concatenate([row.type_ids for row in rows])
        if self._separator_id is not None:
            found = ids == self._separator_id
            types[mask & (found.cumsum(axis=1) > found)] = 1  # some separator stands before
        return ids, mask.astype(np.int64), types


def _pad_id(tokenizer: Tokenizer) -> int:
    """What the model was trained to see as padding (some graphs count positions by it)."""
    if tokenizer.padding is not None:
        return int(tokenizer.padding["pad_id"])
    known = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((token_id for token_id in known if token_id is not None), 0)
