"""Trial2Vec (Wang and Sun 2022): one backbone for all parts of a trial, and attention over the parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid
from trifuse.encoder.parts import Part
from trifuse.encoder.training.towers import first_position, segments
from trifuse.encoder.training.trial2vec.attention import Form, PartsAttention, unit

KEY_TOKENS = 64
CONTEXT_TOKENS = 256
PARTS = (
    *(Part(name=name, max_tokens=KEY_TOKENS) for name in ("title", "intervention", "condition", "outcome")),
    Part(name="context", max_tokens=CONTEXT_TOKENS, context=True),
)
"""The paper's key attributes and the context, in the order in which the graph counts them."""


class Trial2Vec(nn.Module):
    """From the tokens of trials' parts to global and local vectors.

    The parts of a trial stand in one row, one after the other, without padding between them
    (`trifuse.encoder.packing`); a token sees those of its own part alone. The tensors of a batch are all
    (trials, length) int64: `input_ids`; `position_ids`, from 0 in each part; `part_ids`, from 1 in the order
    of `parts`, 0 where there is padding.

    Args:
        backbone: a Hugging Face encoder without a pooler (transformers 5), whose attention takes a mask of
            four dimensions.
        parts: that a trial may have.
        dim: of the vectors that come out: 128, 256, 512, 768; None: the backbone's.
        pooling: how the backbone makes one vector of a text: by its first token, or by all.
        form: of the attention.

    Raises:
        TrainingInvalid: there is no such dimension, the parts name two contexts or none but one, or the
            backbone has no positions for so long a part.
        CheckpointInvalid: the backbone has no positions at all.
    """

    def __init__(
        self,
        backbone: Any,
        parts: Sequence[Part] = PARTS,
        dim: int | None = None,
        *,
        pooling: Literal["cls", "mean"] = "cls",
        form: Form | None = None,
    ) -> None:
        super().__init__()
        contexts = [number for number, part in enumerate(parts) if part.context]
        if len(contexts) > 1 or len(parts) == len(contexts):
            raise TrainingInvalid(
                f"parts {', '.join(part.name for part in parts) or '()'}: expected a key attribute at least, "
                "and one context at most"
            )
        if not hasattr(backbone.config, "max_position_embeddings"):
            raise CheckpointInvalid(
                f"a {type(backbone).__name__} has no positions of its own, by which parts are set apart: "
                "give a BERT, or one of its kind"
            )
        positions = int(backbone.config.max_position_embeddings) - first_position(backbone)
        for part in parts:
            if part.max_tokens > positions:
                raise TrainingInvalid(
                    f"part {part.name!r} has max_tokens {part.max_tokens}, the backbone {positions}"
                )
        self.backbone = backbone
        self.parts = tuple(parts)
        self.pooling = pooling
        width = int(backbone.config.hidden_size)
        self.head = PartsAttention(len(parts), contexts[0] if contexts else None, width, dim, form)

    def forward(self, input_ids: Tensor, position_ids: Tensor, part_ids: Tensor) -> tuple[Tensor, Tensor]:
        """(trials, dim) global and (trials, parts, dim) local vectors, float32.

        Of unit norm; a missing part's local vector is zero, and so is all of a trial without a part.
        """
        vectors, present = self.pooled(input_ids, position_ids, part_ids)
        global_, local = self.head(vectors, present)
        return global_, local

    def pooled(self, input_ids: Tensor, position_ids: Tensor, part_ids: Tensor) -> tuple[Tensor, Tensor]:
        """What the backbone makes of each part alone: all that `head` needs, so that it can be kept.

        Returns:
            (trials, parts, width) float32, unit norm, zero where a part is missing; (trials, parts) bool,
            which parts are there.
        """
        hidden = self.hidden(input_ids, position_ids, part_ids)
        of = self.tokens_of(part_ids)
        chosen = (of & (position_ids == 0)[:, None] if self.pooling == "cls" else of).to(hidden.dtype)
        chosen = chosen / chosen.sum(-1, keepdim=True).clamp(min=1)
        return unit(chosen @ hidden), of.any(-1)

    def tokens_of(self, part_ids: Tensor) -> Tensor:
        """(trials, parts, length) bool: which tokens are a part's."""
        numbers = torch.arange(1, len(self.parts) + 1, device=part_ids.device)
        return part_ids[:, None, :] == numbers[:, None]

    def hidden(self, input_ids: Tensor, position_ids: Tensor, part_ids: Tensor, *, layer: int = -1) -> Tensor:
        """(trials, length, width) float32: what a layer of the backbone makes of the tokens."""
        # Padding sees padding: no row of the mask is empty, whose softmax would be no number.
        mask = (part_ids[:, :, None] == part_ids[:, None, :])[:, None]
        if self.backbone.config._attn_implementation == "eager":
            mask = torch.where(mask, 0.0, torch.finfo(torch.float32).min)
        options = {"token_type_ids": torch.zeros_like(input_ids)} if segments(self.backbone) else {}
        found = self.backbone(
            input_ids=input_ids,
            attention_mask=mask,
            position_ids=position_ids + first_position(self.backbone),
            output_hidden_states=layer != -1,
            return_dict=True,
            **options,
        )
        states: Tensor = found.last_hidden_state if layer == -1 else found.hidden_states[layer]
        return states.float()
