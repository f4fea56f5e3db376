"""Trials as tensors, by the very tokenizer and packing that serve: what is trained on is what is encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from trifuse.encoder.packing import pack, pad
from trifuse.encoder.parts import Part
from trifuse.encoder.templates import clean_text
from trifuse.encoder.tokens import TextTokenizer


class PackedTokens(NamedTuple):
    """What `Trial2Vec` takes: (trials, length) int64 each."""

    input_ids: Tensor
    position_ids: Tensor
    part_ids: Tensor


class Packer:
    """Makes tensors of trials' parts.

    Args:
        tokenizer: a `tokenizer.json`.
        parts: that a trial may have, in the order of the model.

    Raises:
        ModelInvalid: the file isn't a tokenizer.
    """

    def __init__(self, tokenizer: Path, parts: Sequence[Part]) -> None:
        self._parts = [(part.name, TextTokenizer(tokenizer, part.max_tokens)) for part in parts]

    def tensors(self, trials: Sequence[Mapping[str, str]]) -> PackedTokens:
        """The tokens of trials, each a mapping from part to text; an empty or unknown part has none."""
        tokens: list[list[tuple[int, Sequence[int]]]] = [[] for _ in trials]
        for number, (name, tokenizer) in enumerate(self._parts, start=1):
            texts = {row: clean_text(trial[name]) for row, trial in enumerate(trials) if name in trial}
            filled = {row: text for row, text in texts.items() if text}
            found, _ = tokenizer.tokenize(list(filled.values()))
            for row, each in zip(filled, found, strict=True):
                tokens[row].append((number, each.ids))
        packed = pad([pack(parts) for parts in tokens], self._parts[0][1].pad_id)
        return PackedTokens(*(torch.from_numpy(column) for column in packed))
