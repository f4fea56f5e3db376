"""What both trainings of Trial2Vec need of accelerate, and of a state that is resumed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from accelerate import Accelerator
from torch import nn

from trifuse.encoder.training.trainer import accelerator_here, require_shares
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.examples import TrialParts
from trifuse.encoder.training.trial2vec.recipe import Recipe


@dataclass(frozen=True)
class Run:
    """What must be the same when a run is resumed: its recipe, and what it learns from."""

    recipe: Recipe
    learned_from: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Both as JSON."""
        return self.recipe.as_dict() | dict(self.learned_from)


def named_trials(trials: Sequence[TrialParts]) -> str:
    """Trials in short: how many, and a hash of all that is learned of them."""
    found = hashlib.sha256()
    for trial in trials:
        found.update(json.dumps([trial.id, sorted(trial.parts.items()), *trial.conditions]).encode())
    return f"{len(trials)} ({found.hexdigest()[:12]})"


def named_entities(draws: Draws) -> str:
    """A source of entities in short: a hash of what it exchanges in the first minibatch."""
    texts = [sorted(each.items()) for each in next(draws.from_step()).texts()]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]


def accelerator_for(batch: int) -> Accelerator:
    """The processors at hand.

    Raises:
        TrainingInvalid: they can't share a minibatch.
    """
    accelerator = accelerator_here()
    require_shares(batch, accelerator)
    return accelerator


def decayed(model: nn.Module, rate: float) -> list[dict[str, Any]]:
    """The weights to train, for an optimizer: matrices decay, biases and norms don't."""
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return [
        {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": rate},
        {"params": [weight for weight in weights if weight.ndim <= 1], "weight_decay": 0.0},
    ]


class Progress(NamedTuple):
    """How far a run has come.

    Args:
        stage: `words`, `parts` or `trials`: masked words, a frozen backbone's vectors, the contrastive steps.
        done, of: steps, or texts.
        said: what the last one showed.
    """

    stage: str
    done: int
    of: int
    said: str = ""
