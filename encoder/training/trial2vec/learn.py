"""The contrastive training with all that it needs, from a checkpoint and trials to a trained model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from accelerate import Accelerator
from accelerate.utils import set_seed

from trifuse.encoder.parts import Part
from trifuse.encoder.templates import clean_text
from trifuse.encoder.training.checkpoints import Checkpoint
from trifuse.encoder.training.entities import EntitySource
from trifuse.encoder.training.towers import freeze_below
from trifuse.encoder.training.trial2vec.cache import KeptVectors, backbone_key
from trifuse.encoder.training.trial2vec.contrast import AsTensors
from trifuse.encoder.training.trial2vec.dev import DevScore
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.examples import TrialParts
from trifuse.encoder.training.trial2vec.local import LocalPairs
from trifuse.encoder.training.trial2vec.model import PARTS, Trial2Vec
from trifuse.encoder.training.trial2vec.packing import Packer
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.run import Progress, named_entities, named_trials
from trifuse.encoder.training.trial2vec.start import start_head
from trifuse.encoder.training.trial2vec.trainer import ContrastHistory, ContrastStep, train_contrast


class Learned(NamedTuple):
    """A trained model, and what it was trained with.

    Args:
        as_tensors: of parts' texts: a frozen backbone's vectors, or tokens.
        kept: where a frozen backbone's vectors are; None: it isn't frozen.
        score: what said when to stop.
        seconds: how long it took to encode the parts, and to train.
    """

    model: Trial2Vec
    as_tensors: AsTensors
    kept: KeptVectors | None
    score: DevScore
    history: ContrastHistory
    seconds: dict[str, float]


def learn(
    start: Checkpoint,
    trials: Sequence[TrialParts],
    recipe: Recipe,
    state: Path,
    accelerator: Accelerator,
    *,
    source: EntitySource | None = None,
    dev: Sequence[TrialParts] = (),
    parts: Sequence[Part] = PARTS,
    cache: Path | None = None,
    resume: bool = False,
    save_every: int = 500,
    progress: Callable[[Progress], None] = lambda so_far: None,
) -> Learned:
    """Train a model by contrasts; the checkpoint's transformer becomes its backbone.

    Args:
        trials, dev: with clean texts, as `usable` gives them.
        state: a folder for the run's state, from which `resume` goes on.
        source, parts, cache, save_every, progress: see `train_trial2vec`.

    Raises:
        TrainingInvalid, CheckpointInvalid: the trials, the recipe or the state can't be used.
    """
    parts = cut_parts(parts, recipe)
    draws = Draws(trials, parts, recipe, _pairs(source, recipe))
    began = time.monotonic()
    set_seed(recipe.seed)
    model = _model(start, parts, recipe).to(accelerator.device)
    learned_from = {
        "trials": named_trials(trials),
        "dev trials": named_trials(dev),
        "entities": named_entities(draws),
        "backbone": backbone_key(model.backbone, model.pooling, start.tokenizer),
    }
    packer = Packer(start.tokenizer, parts)
    as_tensors: AsTensors = packer.tensors
    kept = None
    if recipe.frozen:
        kept = KeptVectors(model, packer, start.tokenizer, cache or state / "vectors")
        as_tensors = kept.tensors
    score = DevScore(model, dev, as_tensors)
    if kept is not None:
        with accelerator.main_process_first():
            kept.keep(
                _all_texts(trials, score, draws, recipe),
                lambda done, of: progress(Progress("parts", done, of)),
            )
    start_head(model, trials, as_tensors, recipe)
    encoded = time.monotonic()
    history = train_contrast(
        model,
        draws,
        as_tensors,
        recipe,
        state / "trials",
        accelerator,
        dev=score if len(score) else None,
        learned_from=learned_from,
        resume=resume,
        save_every=save_every,
        on_step=lambda step: progress(Progress("trials", step.number, recipe.steps, _said(step))),
    )
    seconds = {"parts": encoded - began, "trials": time.monotonic() - encoded}
    return Learned(model, as_tensors, kept, score, history, seconds)


def usable(trials: Iterable[TrialParts], parts: Sequence[Part]) -> tuple[list[TrialParts], int]:
    """Trials with the clean texts of the parts that they have, and how many have none."""
    names = [part.name for part in parts]
    found: list[TrialParts] = []
    without = 0
    for trial in trials:
        texts = {name: clean_text(trial.parts[name]) for name in names if trial.parts.get(name)}
        filled = {name: text for name, text in texts.items() if text}
        if filled:
            found.append(trial._replace(parts=filled))
        else:
            without += 1
    return found, without


def cut_parts(parts: Sequence[Part], recipe: Recipe) -> tuple[Part, ...]:
    """The parts with the recipe's lengths."""
    return tuple(
        msgspec.structs.replace(part, max_tokens=recipe.context_tokens if part.context else recipe.key_tokens)
        for part in parts
    )


def _pairs(source: EntitySource | None, recipe: Recipe) -> LocalPairs | None:
    return LocalPairs(source, recipe.key_tokens) if source is not None and recipe.local_weight else None


def _model(start: Checkpoint, parts: Sequence[Part], recipe: Recipe) -> Trial2Vec:
    model = Trial2Vec(start.transformer, parts, recipe.dim, pooling=start.pooling, form=recipe.form)
    if recipe.frozen:
        model.backbone.requires_grad_(False)
    elif recipe.trained_layers is not None:
        freeze_below(model.backbone, recipe.trained_layers)
    return model


def _all_texts(
    trials: Sequence[TrialParts], score: DevScore, draws: Draws, recipe: Recipe
) -> Iterator[dict[str, str]]:
    """All parts that a run with a frozen backbone will ask the vectors of."""
    for trial in (*trials, *score.trials):
        yield dict(trial.parts)
    for _, draw in zip(range(recipe.steps), draws.from_step(), strict=False):
        for each in draw.texts():
            yield dict(each)


def _said(step: ContrastStep) -> str:
    dev = "" if step.dev is None else f", dev {step.dev:.3f}"
    return f"loss {step.loss:.3f}, accuracy {step.accuracy:.2f}{dev}"
