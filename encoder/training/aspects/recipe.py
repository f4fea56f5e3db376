"""What a query adapter is made by: numbers and wording, so that a recipe can be read and written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from trifuse.encoder.aspects import INSTRUCTIONS, TEXT
from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.recipe import require_least


@dataclass(frozen=True)
class Recipe:
    """How an adapter is trained.

    Args:
        epochs: passes over the documents.
        batch: documents in a minibatch, each asked for every aspect; more of those that are asked for fewer.
        learning_rate: the highest: it rises from 0 over `warmup`, then falls by a half cosine to 0.
        warmup: a share of all steps.
        weight_decay: of AdamW.
        rank, alpha, dropout: of the updates, which are multiplied by alpha / rank.
        trained_layers: the upper layers of the query encoder that get updates; None: all. What the others
            make of a query is computed once.
        temperature: what cosines are divided by.
        mixed_weight: of a sentence that has the aspect and others too; one that has it alone weighs 1.
        mixed_request: of a request that no sentence of its aspect alone answers, in the mean over requests:
            it pulls towards sentences of several aspects.
        query_tokens: where queries are cut in training.
        per_aspect: one adapter for each aspect, instead of one for all.
        instructions: aspect to the wording of its queries, `{text}` being the title.
        seed: of everything that is drawn.
    """

    epochs: int = 4
    batch: int = 8
    learning_rate: float = 5e-4
    warmup: float = 0.1
    weight_decay: float = 0.01
    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.1
    trained_layers: int | None = 6
    temperature: float = 0.02
    mixed_weight: float = 0.003
    mixed_request: float = 0.2
    query_tokens: int = 64
    per_aspect: bool = False
    instructions: Mapping[str, str] = field(default_factory=lambda: dict(INSTRUCTIONS))
    seed: int = 0

    def __post_init__(self) -> None:
        require_least(self, _LEAST)
        for name in ("warmup", "dropout"):
            if getattr(self, name) >= 1:
                raise TrainingInvalid(f"{name}={getattr(self, name)}: a share below 1 is expected")
        for aspect, wording in self.instructions.items():
            if TEXT not in wording:
                raise TrainingInvalid(f"the instruction for {aspect} is {wording!r}, and lacks {TEXT}")

    def as_dict(self) -> dict[str, Any]:
        """The recipe as JSON."""
        return asdict(self)


_LEAST: dict[str, float] = {
    "epochs": 1,
    "batch": 1,
    "learning_rate": 0,
    "warmup": 0,
    "weight_decay": 0,
    "rank": 1,
    "alpha": 1e-3,
    "dropout": 0,
    "trained_layers": 1,
    "temperature": 1e-3,
    "mixed_weight": 0,
    "mixed_request": 0,
    "query_tokens": 8,
    "seed": 0,
}
