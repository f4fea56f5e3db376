"""The query encoder with updates of low rank (peft's LoRA); its own weights stay as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import torch
from peft import LoraConfig, inject_adapter_in_model
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertModel

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.towers import Tokens
from trifuse.encoder.types import Vectors

MATRICES = (
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
    "intermediate.dense",
    "output.dense",
)
"""Of a layer: all that are linear."""

_OWN = "default"  # peft's name of an adapter that has none


class QueryTower(nn.Module):
    """A BERT whose upper layers have updates.

    Args:
        transformer: it gets the updates, which change nothing before they are trained.
        pooling: how a query's tokens become its vector.
        normalized: whether that is brought to unit norm.
        recipe: says which layers, and of which rank.

    Raises:
        TrainingInvalid: it isn't a BERT, or has fewer layers.
    """

    def __init__(
        self, transformer: Any, pooling: Literal["cls", "mean"], recipe: Recipe, *, normalized: bool = True
    ) -> None:
        super().__init__()
        if not isinstance(transformer, BertModel):
            raise TrainingInvalid(f"a {type(transformer).__name__} can't be adapted: give a BERT")
        count = len(transformer.encoder.layer)
        trained = count if recipe.trained_layers is None else recipe.trained_layers
        if trained > count:
            raise TrainingInvalid(f"trained_layers={trained}: the model has {count} layers")
        if recipe.rank > (width := transformer.config.hidden_size):
            raise TrainingInvalid(f"rank={recipe.rank}: the model's matrices have a rank of {width} at most")
        self.first_trained = count - trained
        self.pooling, self.normalized = pooling, normalized
        layers = "|".join(str(number) for number in range(self.first_trained, count))
        matrices = "|".join(map(re.escape, MATRICES))
        config = LoraConfig(
            r=recipe.rank,
            lora_alpha=recipe.alpha,  # type: ignore[arg-type]  # any number will do
            lora_dropout=recipe.dropout,
            target_modules=rf"encoder\.layer\.({layers})\.({matrices})",
        )
        self.transformer: Any = inject_adapter_in_model(config, transformer)

    def train(self, mode: bool = True) -> QueryTower:
        """As for any module, but for dropout, of which there is only that of the updates."""
        super().train(False)
        for _, matrix in self.updated():
            matrix.lora_dropout.train(mode)
        return self

    def updated(self) -> Iterator[tuple[str, Any]]:
        """The matrices that have updates, and their names."""
        for name, module in self.transformer.named_modules():
            if hasattr(module, "lora_A"):
                yield name, module

    def trained(self) -> nn.ModuleList:
        """All that is trained."""
        return nn.ModuleList(each for _, matrix in self.updated() for each in (matrix.lora_A, matrix.lora_B))

    def updates(self) -> dict[str, tuple[Vectors, Vectors]]:
        """A matrix's name to (in, rank) and (rank, out) float32, whose product is added to it."""
        found = {}
        for name, matrix in self.updated():
            down, up = (each[_OWN].weight.detach().cpu().numpy().T for each in (matrix.lora_A, matrix.lora_B))
            found[name] = (
                np.ascontiguousarray(down, dtype=np.float32),
                np.ascontiguousarray(up * matrix.scaling[_OWN], dtype=np.float32),
            )
        return found

    @torch.no_grad()
    def lower(self, tokens: Tokens) -> Tensor:
        """(rows, length, width): what the layers without updates make of tokens."""
        hidden: Tensor = self.transformer.embeddings(
            input_ids=tokens["input_ids"], token_type_ids=tokens.get("token_type_ids")
        )
        for layer in self.transformer.encoder.layer[: self.first_trained]:
            hidden = run_layer(layer, hidden, hidden, tokens["attention_mask"].bool())
        return hidden

    def upper(self, hidden: Tensor, present: Tensor) -> Tensor:
        """(rows, dim) vectors, of what `lower` gave and (rows, length) bool: which tokens there are."""
        layers = self.transformer.encoder.layer[self.first_trained :]
        for number, layer in enumerate(layers, start=1):
            # Nothing looks at what the last layer makes of other tokens.
            alone = self.pooling == "cls" and number == len(layers)
            hidden = run_layer(layer, hidden[:, :1] if alone else hidden, hidden, present)
        if self.pooling == "cls":
            vectors = hidden[:, 0]
        else:
            weights = present[..., None].to(hidden.dtype)
            vectors = (hidden * weights).sum(1) / weights.sum(1).clamp(min=1)
        return functional.normalize(vectors, dim=-1) if self.normalized else vectors

    def forward(self, tokens: Tokens) -> Tensor:
        """(rows, dim) vectors of tokens."""
        return self.upper(self.lower(tokens), tokens["attention_mask"].bool())


def run_layer(layer: Any, asking: Tensor, hidden: Tensor, present: Tensor) -> Tensor:
    """(rows, n, width): what a BERT's layer makes of the tokens `asking`, without dropout.

    Args:
        asking: (rows, n, width), some of `hidden`.
        hidden: (rows, length, width), all that they look at.
        present: (rows, length) bool.
    """
    own = layer.attention.self
    shape = (len(hidden), -1, own.num_attention_heads, own.attention_head_size)
    queries, keys, values = (
        project(states).view(shape).transpose(1, 2)
        for project, states in ((own.query, asking), (own.key, hidden), (own.value, hidden))
    )
    found = functional.scaled_dot_product_attention(
        queries, keys, values, attn_mask=present[:, None, None, :]
    )
    attended = layer.attention.output(found.transpose(1, 2).flatten(2), asking)
    result: Tensor = layer.output(layer.intermediate(attended), attended)
    return result
