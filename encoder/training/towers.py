"""Two encoders that start as one: a tower for queries, a tower for documents."""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn

from trifuse.encoder.errors import TrainingInvalid

Tokens = dict[str, Tensor]
"""`input_ids`, `attention_mask` and, where the model has segments, `token_type_ids`: (rows, length) int64."""


class Towers(nn.Module):
    """Both towers, copies of one transformer; a text's vector is its last layer's first token, as it comes.

    Args:
        transformer: a Hugging Face encoder without a pooler; it becomes the document tower.
        start_scale: what both towers' vectors are multiplied by, once and for all, by their own weights.
        trained_layers: the upper layers that are trained; None: everything.
        gradient_checkpointing: keep few activations, and compute them twice.

    Raises:
        TrainingInvalid: the transformer has no such layers.
    """

    def __init__(
        self,
        transformer: Any,
        *,
        start_scale: float = 1.0,
        trained_layers: int | None = None,
        gradient_checkpointing: bool = False,
    ) -> None:
        super().__init__()
        if start_scale != 1.0:
            scale_output(transformer, start_scale)
        self.query = copy.deepcopy(transformer)
        self.document = transformer
        for tower in (self.query, self.document):
            if trained_layers is not None:
                freeze_below(tower, trained_layers)
            if gradient_checkpointing:
                _keep_few_activations(tower)

    def forward(self, queries: Tokens, documents: Tokens) -> tuple[Tensor, Tensor]:
        """(queries, dim) and (documents, dim) float32."""
        return first_token(self.query, queries), first_token(self.document, documents)


def first_token(tower: Any, tokens: Tokens) -> Tensor:
    """(rows, dim) float32: the last layer at the first token."""
    hidden: Tensor = tower(**tokens, return_dict=True).last_hidden_state
    return hidden[:, 0].float()


def _keep_few_activations(tower: Any) -> None:
    # Called so from version 5 on; the older name warns there.
    named = ("activation_checkpointing_enable", "gradient_checkpointing_enable")
    enable = next(getattr(tower, name) for name in named if hasattr(tower, name))
    enable({"use_reentrant": False})


def freeze_below(tower: Any, trained_layers: int) -> None:
    """Leave all but the upper layers as they are.

    Raises:
        TrainingInvalid: the model isn't a stack of layers as BERT is, or has fewer.
    """
    layers = _layers(tower, f"trained_layers={trained_layers}")
    if trained_layers > len(layers):
        raise TrainingInvalid(f"trained_layers={trained_layers}: the model has {len(layers)} layers")
    tower.requires_grad_(False)
    for layer in layers[len(layers) - trained_layers :]:
        layer.requires_grad_(True)


def scale_output(tower: Any, factor: float) -> None:
    """Multiply a tower's vectors, by the normalisation that ends its last layer.

    Raises:
        TrainingInvalid: the model isn't a stack of layers as BERT is.
    """
    ending: Any = _layers(tower, f"start_scale={factor}")[-1].output
    with torch.no_grad():
        ending.LayerNorm.weight *= factor
        ending.LayerNorm.bias *= factor


def _layers(tower: Any, what: str) -> nn.ModuleList:
    layers = getattr(getattr(tower, "encoder", None), "layer", None)
    if not isinstance(layers, nn.ModuleList) or not hasattr(tower, "embeddings"):
        raise TrainingInvalid(
            f"{what}: a {type(tower).__name__} has no layers like BERT's; leave that out of the recipe"
        )
    return layers


def segments(tower: Any) -> bool:
    """Whether a transformer tells the two parts of a pair apart."""
    return int(getattr(tower.config, "type_vocab_size", 0) or 0) > 1


def first_position(tower: Any) -> int:
    """A text's first position: 0, but RoBERTa counts from behind its padding token's."""
    config = tower.config
    return int(config.pad_token_id or 0) + 1 if "roberta" in config.model_type else 0


def vectors_of(tower: Any, tokens: Tokens) -> Tensor:
    """(rows, dim) float32 of a tower at rest: no dropout, no gradient."""
    with torch.no_grad():
        return first_token(tower.eval(), tokens)
