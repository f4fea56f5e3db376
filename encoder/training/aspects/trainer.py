"""The training loop of an adapter: stopped and resumed with the same result; the best epoch is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from trifuse.encoder.training.aspects.asked import Answers, AskedDocuments, Queries
from trifuse.encoder.training.aspects.dev import DevScores, dev_scores, scores_of
from trifuse.encoder.training.aspects.losses import answer_loss
from trifuse.encoder.training.aspects.model import QueryTower
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.recipe import require_finite
from trifuse.encoder.training.schedule import learning_rate_factor
from trifuse.encoder.training.state import Described, History, SavedState

_LONGEST_GRADIENT = 1.0


class AdapterStep(NamedTuple):
    """What one optimizer step showed.

    Args:
        number: from 1.
        steps: of the whole run.
        loss: before the step.
        dev: the latest dev scores; None where there are none.
        seconds: since the run began, or was resumed.
    """

    number: int
    steps: int
    loss: float
    dev: DevScores | None
    seconds: float


class AdapterHistory(History):
    """Every step and epoch so far, and the updates that had the best dev score."""

    def __init__(self) -> None:
        super().__init__()
        self.dev: list[list[float]] = []
        self.best: dict[str, Tensor] = {}

    @property
    def best_epoch(self) -> int | None:
        """From 1, the earliest of several; None where there was no score. `dev` begins with epoch 0."""
        if len(self.dev) < 2:
            return None
        return max(range(1, len(self.dev)), key=lambda epoch: (DevScores(*self.dev[epoch]).score, -epoch))


def train_adapter(
    tower: QueryTower,
    asked: AskedDocuments,
    recipe: Recipe,
    state: Path,
    accelerator: Accelerator,
    learned_from: Described,
    *,
    dev: AskedDocuments | None = None,
    resume: bool = False,
    save_every: int = 500,
    on_step: Callable[[AdapterStep], None] | None = None,
) -> AdapterHistory:
    """Train a tower's updates in place; it has those of the best epoch then, or else the last ones.

    Args:
        state: a folder for the run's state, from which `resume` goes on.
        learned_from: what must be the same when the run is resumed.
        dev: documents by which the best epoch is chosen.
        save_every: steps between two states.
        on_step: told of each step.

    Raises:
        CheckpointInvalid: the state is of another recipe, or of other documents.
        TrainingInvalid: the training diverged.
    """
    batches = asked.batches
    steps = recipe.epochs * batches
    warmup = int(recipe.warmup * steps)
    trained = tower.trained()
    optimizer: Any = torch.optim.AdamW(
        trained.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_factor(step, warmup, steps)
    )
    trained, optimizer = accelerator.prepare(trained, optimizer)
    history = AdapterHistory()
    saved = SavedState(accelerator, state, learned_from, schedule, history)
    if resume:
        saved.load()
    if dev is not None and not history.dev:
        history.dev.append(list(dev_scores(tower, dev)))
    started = time.monotonic()
    while history.steps < steps:
        epoch, done = divmod(history.steps, batches)
        for chosen in list(asked.epoch(epoch))[done:]:
            tower.train()
            loss = _loss(tower, asked.queries(chosen), asked.answers(chosen), recipe, accelerator)
            accelerator.backward(loss)
            nn.utils.clip_grad_norm_(trained.parameters(), _LONGEST_GRADIENT)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            history.loss.append(loss.item())
            require_finite(history.loss[-1], history.steps)
            if history.steps % batches == 0 and dev is not None:
                history.dev.append(list(dev_scores(tower, dev)))
                if history.best_epoch == epoch + 1:
                    history.best = _copied(trained)
            if on_step is not None:
                latest = DevScores(*history.dev[-1]) if history.dev else None
                spent = time.monotonic() - started
                on_step(AdapterStep(history.steps, steps, history.loss[-1], latest, spent))
            if history.steps % save_every == 0 and history.steps < steps:
                saved.save()
    if history.best:
        trained.load_state_dict(history.best)
    return history


def _loss(
    tower: QueryTower,
    queries: Queries,
    answers: Answers,
    recipe: Recipe,
    accelerator: Accelerator,
) -> Tensor:
    device = accelerator.device
    hidden, present = (each.to(device) for each in queries)
    candidates, sentences, weights = (each.to(device) for each in answers)
    with accelerator.autocast():
        scores = scores_of(tower.upper(hidden, present), candidates)
    return answer_loss(
        scores.float(),
        weights,
        sentences,
        temperature=recipe.temperature,
        mixed_request=recipe.mixed_request,
    )


def _copied(trained: nn.Module) -> dict[str, Tensor]:
    return {name: weight.detach().cpu().clone() for name, weight in trained.state_dict().items()}
