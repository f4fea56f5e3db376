"""The vectors of a trial's parts to one vector of the trial: Trial2Vec's equation 1.

`v_g = MultiHeadAttn(v_ctx, {v_l}, W)` (Wang and Sun 2022, section 3.2), in the terms of Vaswani et al.
(2017): the context is the query, the parts are keys and values, each head sees its share of the numbers.

Where our form goes further than the paper's, `Form` says so and can take it back.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from trifuse.encoder.errors import TrainingInvalid

DIMENSIONS = (128, 256, 512, 768)
"""What a vector's dimension may be, beside the backbone's own."""

_LEAST_SQUARE = 1e-12
_START = 0.02


@dataclass(frozen=True)
class Form:
    """Which form the attention has.

    Args:
        heads: among which the numbers of a vector are shared out.
        context_value: whether the context is a value as well, beside the key attributes; without, it is one
            only where a trial has nothing else.
        prior: whether each head learns a weight for each part, whatever stands in it.
        own_values: whether each part adds something of its own to the projection that all parts share.
        sharpness: what the dot products of queries and keys are multiplied by, beside 1/√(numbers a head).
            Vectors here are of unit norm, where a transformer's are not: without it they say little.
    """

    heads: int = 4
    context_value: bool = True
    prior: bool = True
    own_values: bool = True
    sharpness: float = 10.0


PAPER = Form(context_value=False, prior=False, own_values=False, sharpness=1.0)
"""Equation 1 as it is printed."""


class PartsAttention(nn.Module):
    """Attention over the parts of a trial.

    A part's own (local) vector is what the attention gives for a trial that has nothing but that part: both
    kinds lie in one space, so that a query of any parts finds whole trials. A trial without context is looked
    at by a learned query.

    Args:
        parts: how many there are.
        context: which of them is the context, from 0; None: there is none.
        width: of the parts' vectors.
        dim: of what comes out: 128, 256, 512, 768 or `width`.

    Raises:
        TrainingInvalid: no such dimension, or one that the heads can't share.
    """

    centres: Tensor
    prior: Tensor
    own: Tensor

    def __init__(
        self, parts: int, context: int | None, width: int, dim: int | None = None, form: Form | None = None
    ) -> None:
        super().__init__()
        self.form = form or Form()
        self.dim = dim or width
        if self.dim not in (*DIMENSIONS, width):
            known = ", ".join(map(str, DIMENSIONS))
            raise TrainingInvalid(f"dim={dim}: expected one of {known}, or the backbone's {width}")
        if self.form.heads < 1 or self.dim % self.form.heads:
            raise TrainingInvalid(f"heads={self.form.heads}: expected a divisor of dim={self.dim}")
        self.context = context
        self.register_buffer("centres", torch.zeros(parts, width))
        self._optional("prior", torch.zeros(self.form.heads, parts), self.form.prior)
        self._optional("own", torch.zeros(parts, self.dim, width), self.form.own_values)
        self.query = nn.Linear(width, self.dim)
        self.key = nn.Linear(width, self.dim, bias=False)  # a bias would move all scores of a query alike
        self.value = nn.Linear(width, self.dim, bias=False)
        self.output = nn.Linear(self.dim, self.dim, bias=False)
        nn.init.normal_(self.query.weight, std=_START)
        nn.init.normal_(self.key.weight, std=_START)
        nn.init.zeros_(self.query.bias)
        nn.init.eye_(self.value.weight)
        nn.init.eye_(self.output.weight)

    def _optional(self, name: str, value: Tensor, trained: bool) -> None:
        if trained:
            self.register_parameter(name, nn.Parameter(value))
        else:
            self.register_buffer(name, value)

    @torch.no_grad()
    def start(
        self, *, centres: Tensor | None = None, values: Tensor | None = None, prior: Tensor | None = None
    ) -> None:
        """Begin elsewhere than at the parts' plain mean.

        Args:
            centres: (parts, width) what is taken off each part's vector: the mean of many trials'.
            values: (dim, width) the projection that all parts share: principal axes, say.
            prior: (parts,) positive; how much each part weighs before anything is learned.
        """
        if centres is not None:
            self.centres.copy_(centres)
        if values is not None:
            self.value.weight.copy_(values)
        if prior is not None:
            self.prior.copy_(prior.log().expand_as(self.prior))

    def forward(self, vectors: Tensor, present: Tensor) -> tuple[Tensor, Tensor]:
        """Global and local vectors.

        Args:
            vectors: (trials, parts, width); what stands at a missing part doesn't matter, if it is finite.
            present: (trials, parts) bool.

        Returns:
            (trials, dim) and (trials, parts, dim) float32, unit norm; zero where there is no part.
        """
        x = self.inner(vectors, present)
        values = self.value(x) + (x.transpose(0, 1) @ self.own.transpose(1, 2)).transpose(0, 1)
        weights = self.weights(x, present)  # (trials, heads, parts)
        heads = _by_head(values, self.form.heads)  # (trials, heads, parts, dim / heads)
        mixed = (weights[:, :, None] @ heads).flatten(1)
        return unit(self.output(mixed)), unit(self.output(values))

    def inner(self, vectors: Tensor, present: Tensor) -> Tensor:
        """(trials, parts, width) the vectors off their centres, unit norm; zero where a part is missing."""
        off = unit(vectors.float()) - self.centres
        return unit(torch.where(present[:, :, None], off, torch.zeros_like(off)))

    def weights(self, x: Tensor, present: Tensor) -> Tensor:
        """(trials, heads, parts) how much each part counts; a missing one not at all."""
        trials = x.shape[0]
        context = torch.zeros_like(x[:, 0]) if self.context is None else x[:, self.context]
        queries = _by_head(self.query(context)[:, None], self.form.heads)  # (trials, heads, 1, dim / heads)
        keys = _by_head(self.key(x), self.form.heads)
        scale = self.form.sharpness / keys.shape[-1] ** 0.5
        scores = (queries @ keys.transpose(2, 3)).reshape(trials, self.form.heads, -1) * scale + self.prior
        hidden = ~self._values_of(present)[:, None]
        # Finite, so that a trial without any part gets zeros, and no gradient that is not a number.
        weights: Tensor = scores.masked_fill(hidden, torch.finfo(scores.dtype).min).softmax(-1)
        return weights

    def _values_of(self, present: Tensor) -> Tensor:
        """(trials, parts) bool: which parts are values."""
        if self.form.context_value or self.context is None:
            return present
        key = torch.arange(present.shape[1], device=present.device) != self.context
        values: Tensor = present & (key | ~(present & key).any(1, keepdim=True))
        return values


def unit(vectors: Tensor) -> Tensor:
    """Float32 vectors of unit norm; a vector of zeros stays one, and so does its gradient finite."""
    vectors = vectors.float()
    # Not added: what writes ONNX graphs takes so small a number for zero, and leaves it out.
    return vectors * vectors.square().sum(-1, keepdim=True).clamp(min=_LEAST_SQUARE).rsqrt()


def _by_head(vectors: Tensor, heads: int) -> Tensor:
    """(trials, parts, dim) to (trials, heads, parts, dim / heads)."""
    return vectors.reshape(*vectors.shape[:2], heads, vectors.shape[2] // heads).transpose(1, 2)
