"""SimCSE (Gao et al. 2021, unsupervised): a text and itself under another dropout are a pair.

A small recipe for two cores: the two upper layers of the flat backbone are trained, on the first 64 tokens of
training trials; the layers below stay, and have no dropout. The paper's is a whole backbone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from trifuse.encoder.training.checkpoints import Checkpoint, open_checkpoint
from trifuse.encoder.training.trial2vec.losses import info_nce
from trifuse.encoder.types import Vectors

LAYERS, STEPS, BATCH, TOKENS = 2, 60, 32, 64
RATE, TEMPERATURE, DROPOUT = 3e-5, 0.05, 0.1
_ROWS = 32


class SimCse:
    """A backbone, of which the upper layers are trained.

    Args:
        checkpoint: its name or folder.
        tokens: of a text to encode, at most.
    """

    def __init__(self, checkpoint: str, tokens: int = 512) -> None:
        with open_checkpoint(checkpoint) as start:
            self._tokenizer = Tokenizer.from_file(str(start.tokenizer))
            self._model, self._pooling, self._tokens = _prepared(start), start.pooling, tokens

    def train(self, texts: Sequence[str], seed: int) -> list[float]:
        """Learn from texts; the loss of each step."""
        torch.manual_seed(seed)
        upper = self._layers[-LAYERS:]
        weights = [weight for layer in upper for weight in layer.parameters()]
        optimizer = torch.optim.AdamW(weights, lr=RATE)
        losses = []
        for some in self._batches(texts, seed):
            below, mask = self._below(some, TOKENS)
            for layer in upper:
                layer.train()
            first, second = (self._above(below, mask) for _ in range(2))
            loss = info_nce(first, second, others=second, temperature=TEMPERATURE)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses.append(loss.item())
        return losses

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) float32, unit norm."""
        self._model.eval()
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found = np.zeros((len(texts), self._model.config.hidden_size), dtype=np.float32)
        for start in range(0, len(order), _ROWS):
            places = order[start : start + _ROWS]
            found[places] = self._above(
                *self._below([texts[place] for place in places], self._tokens)
            ).numpy()
        return found

    @property
    def _layers(self) -> Any:
        return self._model.encoder.layer

    @torch.no_grad()
    def _below(self, texts: Sequence[str], tokens: int) -> tuple[Tensor, Tensor]:
        """(n, length, dim) what the frozen layers give, without dropout; (n, length) bool, the tokens."""
        self._model.eval()
        self._tokenizer.enable_truncation(tokens)
        self._tokenizer.enable_padding()
        rows = self._tokenizer.encode_batch(list(texts))
        mask = torch.tensor([row.attention_mask for row in rows], dtype=torch.bool)
        hidden: Tensor = self._model.embeddings(input_ids=torch.tensor([row.ids for row in rows]))
        for layer in self._layers[:-LAYERS]:
            hidden = _through(layer, hidden, mask)
        return hidden, mask

    def _above(self, hidden: Tensor, mask: Tensor) -> Tensor:
        for layer in self._layers[-LAYERS:]:
            hidden = _through(layer, hidden, mask)
        share = mask / mask.sum(1, keepdim=True)
        pooled = hidden[:, 0] if self._pooling == "cls" else (hidden * share[:, :, None]).sum(1)
        return torch.nn.functional.normalize(pooled, dim=-1)

    def _batches(self, texts: Sequence[str], seed: int) -> Iterator[list[str]]:
        chance = np.random.default_rng(seed)
        size = min(BATCH, len(texts))
        for _ in range(STEPS):
            yield [texts[place] for place in chance.choice(len(texts), size, replace=False)]


def _prepared(start: Checkpoint) -> Any:
    for module in start.transformer.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = DROPOUT
    return start.transformer


def _through(layer: Any, hidden: Tensor, mask: Tensor) -> Tensor:
    added = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)
    found = layer(hidden, attention_mask=added[:, None, None, :])
    return found[0] if isinstance(found, tuple) else found  # transformers 4 gives a tuple
