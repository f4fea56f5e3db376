"""The contrastive training of Trial2Vec: resumed with the same result, ended by a score without labels."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from accelerate.utils import broadcast, set_seed
from torch import Tensor

from trifuse.encoder.training.recipe import require_finite
from trifuse.encoder.training.schedule import learning_rate_factor
from trifuse.encoder.training.state import History, SavedState
from trifuse.encoder.training.trial2vec.contrast import AsTensors, Contrast, losses_of
from trifuse.encoder.training.trial2vec.dev import DevScore
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.run import Run, decayed


class ContrastStep(NamedTuple):
    """What one optimizer step showed.

    Args:
        number: from 1.
        loss: before the step, of trials and of texts.
        accuracy: share of the trials whose other view was the nearest of the minibatch's.
        dev: the latest dev score; None where there is none.
        seconds: since the run began, or was resumed.
    """

    number: int
    loss: float
    accuracy: float
    dev: float | None
    seconds: float


class ContrastHistory(History):
    """Every step so far, and the weights that had the best dev score."""

    def __init__(self) -> None:
        super().__init__()
        self.loss_trials: list[float] = []
        self.loss_texts: list[float] = []
        self.accuracy: list[float] = []
        self.dev: list[list[float]] = []
        self.best: dict[str, Tensor] = {}

    @property
    def best_step(self) -> int | None:
        """The step with the best dev score, the earliest of several; None where there was no score."""
        trained = self.dev[1:]
        return int(max(trained, key=lambda each: each[1])[0]) if trained else None

    def waited(self) -> int:
        """How many scores came after the best one."""
        steps = [each[0] for each in self.dev[1:]]
        return len(steps) - 1 - steps.index(self.best_step) if self.best_step is not None else 0


def train_contrast(
    model: Trial2Vec,
    draws: Draws,
    as_tensors: AsTensors,
    recipe: Recipe,
    state: Path,
    accelerator: Accelerator,
    *,
    dev: DevScore | None = None,
    learned_from: Mapping[str, str] | None = None,
    resume: bool = False,
    save_every: int = 500,
    on_step: Callable[[ContrastStep], None] | None = None,
) -> ContrastHistory:
    """Train a model in place; it has the weights with the best dev score then, or else the last ones.

    Args:
        draws: the minibatches.
        as_tensors: of parts' texts: vectors where the backbone is frozen, else tokens.
        state: a folder for the run's state, from which `resume` goes on.
        dev: the score that ends the training; None: all steps are done.
        learned_from: names what is learned from: a run isn't resumed on something else.
        save_every: steps between two states.
        on_step: told of each step, in the main process.

    Raises:
        CheckpointInvalid: the state is of another recipe, or of other trials.
    """
    set_seed(recipe.seed, device_specific=True)
    optimizer: Any = torch.optim.AdamW(decayed(model, recipe.weight_decay), lr=recipe.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_factor(step, recipe.warmup_steps, recipe.steps)
    )
    contrast, optimizer = accelerator.prepare(Contrast(model), optimizer)
    history = ContrastHistory()
    saved = SavedState(accelerator, state, Run(recipe, learned_from or {}), schedule, history)
    if resume:
        saved.load()
    if dev is not None and not history.dev:
        history.dev.append([0, _score(dev, accelerator)])
    started = time.monotonic()
    minibatches = draws.from_step(history.steps)
    while history.steps < recipe.steps and history.waited() < recipe.patience:
        contrast.train(not recipe.frozen)
        losses = losses_of(contrast, next(minibatches), as_tensors, recipe, accelerator)
        accelerator.backward(losses.whole)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        for series, value in zip(
            (history.loss, history.loss_trials, history.loss_texts, history.accuracy),
            torch.stack([each.detach() for each in losses]).tolist(),
            strict=True,
        ):
            series.append(value)
        require_finite(history.loss[-1], history.steps)
        if dev is not None and (history.steps % recipe.dev_every == 0 or history.steps == recipe.steps):
            history.dev.append([history.steps, _score(dev, accelerator)])
            if history.best_step == history.steps:
                history.best = _weights(model)
        if on_step is not None and accelerator.is_main_process:
            score = history.dev[-1][1] if history.dev else None
            seconds = time.monotonic() - started
            on_step(ContrastStep(history.steps, history.loss[-1], history.accuracy[-1], score, seconds))
        if history.steps % save_every == 0 and history.steps < recipe.steps:
            saved.save()
    model.load_state_dict(history.best, strict=False)
    return history


def _score(dev: DevScore, accelerator: Accelerator) -> float:
    """The main process's: all of them must end at the same step."""
    score: Tensor = broadcast(torch.tensor(dev(), dtype=torch.float64, device="cpu").to(accelerator.device))
    return score.item()


def _weights(model: Trial2Vec) -> dict[str, Tensor]:
    """Copies of what is trained."""
    return {
        name: weight.detach().cpu().clone()
        for name, weight in model.named_parameters()
        if weight.requires_grad
    }
