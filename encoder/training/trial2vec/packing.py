"""Trials as tensors, by the very tokenizer and packing that serve: what is trained on is what is encoded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from trifuse.encoder.packing import PartsTokenizer
from trifuse.encoder.parts import Part
from trifuse.encoder.templates import clean_text


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
        self._names = [part.name for part in parts]
        self._tokenizer = PartsTokenizer(tokenizer, parts)

    def tensors(self, trials: Sequence[Mapping[str, str]]) -> PackedTokens:
        """The tokens of trials, each a mapping from part to text; an empty or unknown part has none."""
        rows, _ = self._tokenizer.tokenize([self._clean(trial) for trial in trials])
        return PackedTokens(*(torch.from_numpy(column) for column in self._tokenizer.pad(rows)))

    def _clean(self, trial: Mapping[str, str]) -> dict[str, str]:
        texts = {name: clean_text(trial[name]) for name in self._names if name in trial}
        return {name: text for name, text in texts.items() if text}
