"""The model as it is written to a graph: the same vectors for fewer products."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from transformers import BertModel

from trifuse.encoder.training.trial2vec.attention import unit
from trifuse.encoder.training.trial2vec.model import Trial2Vec


def as_served(model: Trial2Vec) -> nn.Module:
    """The module that a model's graph is written from; it takes and gives what the model does."""
    if model.pooling == "cls" and isinstance(model.backbone, BertModel):
        return FirstTokens(model)
    return model


class FirstTokens(nn.Module):
    """A model that pools by the first token, whose backbone's last layer is run for these tokens alone.

    Nothing looks at what that layer makes of the other tokens: with twelve layers that is a fourteenth of all
    work.

    Args:
        model: at rest (there is no dropout here), with pooling `cls` and a BERT as its backbone.
    """

    def __init__(self, model: Trial2Vec) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, position_ids: Tensor, part_ids: Tensor) -> tuple[Tensor, Tensor]:
        """As `Trial2Vec.forward`."""
        model = self.model
        hidden = model.hidden(input_ids, position_ids, part_ids, layer=-2)
        of = model.tokens_of(part_ids)  # (trials, parts, length)
        first = (of & (position_ids == 0)[:, None]).to(hidden.dtype) @ hidden
        present = of.any(-1)
        vectors = _last_layer(model.backbone.encoder.layer[-1], first, hidden, of)
        global_, local = model.head(unit(vectors), present)
        return global_, local


def _last_layer(layer: Any, first: Tensor, hidden: Tensor, seen: Tensor) -> Tensor:
    """(trials, parts, width) what a BERT's layer makes of first tokens, each of which sees its part."""
    own = layer.attention.self
    shape = (*hidden.shape[:1], -1, own.num_attention_heads, own.attention_head_size)
    queries = own.query(first).view(shape).transpose(1, 2)
    keys, values = (project(hidden).view(shape).transpose(1, 2) for project in (own.key, own.value))
    scores = queries @ keys.transpose(2, 3) * own.attention_head_size**-0.5  # (trials, heads, parts, length)
    shares = scores.masked_fill(~seen[:, None], torch.finfo(scores.dtype).min).softmax(-1)
    attended = layer.attention.output((shares @ values).transpose(1, 2).flatten(2), first)
    found: Tensor = layer.output(layer.intermediate(attended), attended)
    return found
