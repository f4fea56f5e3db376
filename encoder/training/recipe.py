"""What a training run is made by: numbers only, so that a recipe can be read, compared and written down.

The defaults are those of LADER (Jin, Shin, Lu 2023: "Log-Augmented DEnse Retrieval for Biomedical Literature
Search", section 3.1), which says nothing of lengths in tokens: a query has up to 64, a document what BERT
takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from trifuse.encoder.errors import TrainingInvalid


@dataclass(frozen=True)
class Recipe:
    """How two towers are trained.

    Args:
        steps: optimizer steps.
        warmup_steps: the learning rate rises from 0 to `learning_rate` over them, then falls by a half cosine
            to 0 at `steps`.
        batch: queries in a minibatch, each with a positive and a hard negative: 2 × batch candidates.
        learning_rate: of AdamW.
        weight_decay: of AdamW, on all weights.
        nll_weight: β, the share of the in-batch loss; the rest is the triplet loss.
        margin: α of the triplet loss, a Euclidean distance.
        query_tokens: a query is cut to so many tokens.
        document_tokens: a document is cut to so many tokens while training; the model takes what it took.
        start_scale: what the checkpoint's vectors are multiplied by before the first step. The loss sees raw
            inner products: where those of a checkpoint that was made for cosines are large (bge's are 85),
            its softmax is sure of everything, right or wrong, and unlearns that first.
        trained_layers: the upper layers that are trained; None: all, and the embeddings.
        gradient_checkpointing: compute activations twice and keep few: less memory, a third more time.
        seed: of dropout and of the order and choice of examples.
    """

    steps: int = 20_000
    warmup_steps: int = 10_000
    batch: int = 256
    learning_rate: float = 2e-5
    weight_decay: float = 1e-2
    nll_weight: float = 0.9
    margin: float = 5.0
    query_tokens: int = 64
    document_tokens: int = 512
    start_scale: float = 1.0
    trained_layers: int | None = None
    gradient_checkpointing: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(self, _LEAST)
        if self.nll_weight > 1:
            raise TrainingInvalid(f"nll_weight={self.nll_weight}: it is a share, expected 0 to 1")
        require_reached(self.warmup_steps, self.steps)

    def as_dict(self) -> dict[str, Any]:
        """The recipe as JSON."""
        return asdict(self)


def require_least(recipe: Any, least: Mapping[str, float]) -> None:
    """Refuse a recipe of which a number is less than it may be, or no number; None is the checkpoint's own.

    Raises:
        TrainingInvalid: naming the number.
    """
    for name, lowest in least.items():
        value = getattr(recipe, name)
        if value is not None and not lowest <= value < math.inf:
            raise TrainingInvalid(f"{name}={value}: a recipe needs {lowest} at least, and a finite number")


def require_finite(loss: float, step: int) -> None:
    """Refuse a training that has left what numbers can hold: nothing would come of the steps to follow.

    Raises:
        TrainingInvalid: naming the step.
    """
    if not math.isfinite(loss):
        raise TrainingInvalid(
            f"the loss is {loss} at step {step}: the training diverged; give a lower learning rate"
        )


def require_reached(warmup_steps: int, steps: int) -> None:
    """Refuse a warm-up that is longer than the run.

    Raises:
        TrainingInvalid: it is.
    """
    if warmup_steps > steps:
        raise TrainingInvalid(
            f"warmup_steps={warmup_steps} of steps={steps}: the learning rate would never be reached; give "
            "fewer warm-up steps"
        )


_LEAST: dict[str, float] = {
    "steps": 1,
    "warmup_steps": 0,
    "batch": 2,
    "learning_rate": 0,
    "weight_decay": 0,
    "nll_weight": 0,
    "margin": 0,
    "query_tokens": 3,
    "document_tokens": 3,
    "start_scale": 1e-3,
    "trained_layers": 1,
    "seed": 0,
}

SMALL = Recipe(
    steps=200,
    warmup_steps=20,
    batch=32,
    learning_rate=1e-4,
    query_tokens=32,
    document_tokens=64,
    start_scale=0.5,
    trained_layers=6,
)
"""About a quarter of an hour on two cores, from bge-small."""
