"""Trial2Vec (Wang and Sun 2022), from a checkpoint and trials to a model's folder."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import torch
from accelerate.utils import set_seed

from trifuse.encoder.description import MODEL_FILE
from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid
from trifuse.encoder.parts import Part
from trifuse.encoder.templates import clean_text
from trifuse.encoder.training.checkpoints import Checkpoint, open_checkpoint
from trifuse.encoder.training.entities import EntitySource
from trifuse.encoder.training.towers import freeze_below
from trifuse.encoder.training.trial2vec.cache import KeptVectors
from trifuse.encoder.training.trial2vec.contrast import AsTensors, pooled
from trifuse.encoder.training.trial2vec.dev import DevScore
from trifuse.encoder.training.trial2vec.draw import Draws
from trifuse.encoder.training.trial2vec.examples import TrialParts, minibatches
from trifuse.encoder.training.trial2vec.export import describe, export_trial2vec
from trifuse.encoder.training.trial2vec.local import LocalPairs
from trifuse.encoder.training.trial2vec.mlm import Windows, train_words
from trifuse.encoder.training.trial2vec.model import PARTS, Trial2Vec
from trifuse.encoder.training.trial2vec.packing import Packer
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.report import Trial2VecReport
from trifuse.encoder.training.trial2vec.run import accelerator_for
from trifuse.encoder.training.trial2vec.trainer import ContrastStep, train_contrast

REPORT_FILE = "training.json"
STATE_FOLDER = "state"
_WORDS_FILE = "words.pt"
_SAMPLE = 4096
_ROWS = 32


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


def train_trial2vec(
    checkpoint: str,
    trials: Iterable[TrialParts],
    recipe: Recipe,
    folder: Path,
    *,
    name: str,
    source: EntitySource | None = None,
    dev: Iterable[TrialParts] = (),
    parts: Sequence[Part] = PARTS,
    texts: Iterable[str] = (),
    cache: Path | None = None,
    resume: bool = False,
    save_every: int = 500,
    progress: Callable[[Progress], None] = lambda so_far: None,
) -> Trial2VecReport | None:
    """Train a Trial2Vec, and put a model that `load_encoder` takes into a folder.

    Args:
        checkpoint: a Hugging Face checkpoint's folder, or a model of trifuse in fp32.
        trials: to learn from; those without any of the parts are left out.
        folder: of the model; its subfolder `state` holds what a resume needs, until the model is there.
        name: of the model: part of its space's id.
        source: of entities; None: there is no local loss.
        dev: trials that aren't learned from, by which the training ends; none: all steps are done.
        parts: that a trial may have; where they are cut is the recipe's.
        texts: more medical texts for the masked-language-model training, beside the trials' own.
        cache: a folder for a frozen backbone's vectors, so that other runs find them; None: in `state`.
        resume: go on from the last state, if there is one.
        save_every: steps between two states.
        progress: told how far it has come, in the main process.

    Returns:
        the report, which also stands in the folder; None in all processes but the main one.

    Raises:
        TrainingError: the checkpoint, the trials or the saved state can't be used, or the export failed.
    """
    accelerator = accelerator_for(recipe.batch)
    if not accelerator.is_main_process:
        progress = lambda so_far: None  # noqa: E731
    seconds: dict[str, float] = {}
    state = folder / STATE_FOLDER
    parts = _cut(parts, recipe)
    learned, without_text = usable(trials, parts)
    draws = Draws(learned, parts, recipe, _pairs(source, recipe))
    with open_checkpoint(checkpoint) as start:
        with _timed(seconds, "words"):
            words_loss = _learn_words(start, learned, texts, recipe, state, resume, save_every, progress)
        set_seed(recipe.seed)
        model = _model(start, parts, recipe).to(accelerator.device)
        packer = Packer(start.tokenizer, parts)
        as_tensors: AsTensors = packer.tensors
        kept = None
        if recipe.frozen:
            kept = KeptVectors(model, packer, start.tokenizer, cache or state / "vectors")
            as_tensors = kept.tensors
        score = DevScore(model, usable(dev, parts)[0], as_tensors)
        with _timed(seconds, "parts"):
            if kept is not None:
                with accelerator.main_process_first():
                    kept.keep(
                        _all_texts(learned, score, draws, recipe),
                        lambda done, of: progress(Progress("parts", done, of)),
                    )
            _start(model, learned, as_tensors, recipe)
        with _timed(seconds, "trials"):
            history = train_contrast(
                model,
                draws,
                as_tensors,
                recipe,
                state / "trials",
                accelerator,
                dev=score if len(score) else None,
                trials=_named(learned),
                resume=resume,
                save_every=save_every,
                on_step=lambda step: progress(Progress("trials", step.number, recipe.steps, _said(step))),
            )
        if not accelerator.is_main_process:
            return None
        with _timed(seconds, "export"):
            parity = export_trial2vec(
                model, start.tokenizer, describe(model, name, licence=start.licence), folder
            )
    report = Trial2VecReport(
        model=name,
        sha256=hashlib.sha256((folder / MODEL_FILE).read_bytes()).hexdigest(),
        checkpoint=checkpoint,
        recipe=recipe,
        trials=len(learned),
        without_text=without_text,
        dev_trials=len(score),
        device=accelerator.device.type,
        processes=accelerator.num_processes,
        precision=accelerator.mixed_precision,
        seconds={stage: round(spent, 1) for stage, spent in seconds.items()},
        words_loss=words_loss,
        loss=history.loss,
        loss_trials=history.loss_trials,
        loss_texts=history.loss_texts,
        accuracy=history.accuracy,
        dev=history.dev,
        best_step=history.best_step,
        parity=parity,
    )
    (folder / REPORT_FILE).write_text(json.dumps(report.as_dict(), indent=1) + "\n")
    shutil.rmtree(state, ignore_errors=True)
    return report


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


def _cut(parts: Sequence[Part], recipe: Recipe) -> tuple[Part, ...]:
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


def _learn_words(
    start: Checkpoint,
    trials: Sequence[TrialParts],
    texts: Iterable[str],
    recipe: Recipe,
    state: Path,
    resume: bool,
    save_every: int,
    progress: Callable[[Progress], None],
) -> list[float]:
    """The first training, unless it was done before the run was resumed; the loss of its steps."""
    if not recipe.mlm_epochs:
        return []
    made_by = {
        key: value for key, value in recipe.as_dict().items() if key.startswith("mlm_") or key == "seed"
    }
    done = state / _WORDS_FILE
    if resume and done.exists():
        saved: dict[str, Any] = torch.load(done, weights_only=True)
        if saved["recipe"] != made_by:
            raise CheckpointInvalid(
                f"the run in {state} was begun with {saved['recipe']}: resume it with what it was begun "
                "with, or train into another folder"
            )
        start.transformer.load_state_dict(saved["backbone"])
        return list(saved["loss"])
    own = (text for trial in trials for text in trial.parts.values())
    windows = Windows((text for some in (own, texts) for text in some), start.tokenizer, recipe.mlm_tokens)
    set_seed(recipe.seed)
    loss = train_words(
        start.transformer,
        windows,
        recipe,
        state / "words",
        resume=resume,
        save_every=save_every,
        on_step=lambda step, of, value: progress(Progress("words", step, of, f"loss {value:.3f}")),
    )
    state.mkdir(parents=True, exist_ok=True)
    weights = {key: weight.cpu() for key, weight in start.transformer.state_dict().items()}
    new = done.with_suffix(".new")
    torch.save({"recipe": made_by, "loss": loss, "backbone": weights}, new)
    new.replace(done)
    shutil.rmtree(state / "words", ignore_errors=True)
    return loss


def _all_texts(
    trials: Sequence[TrialParts], score: DevScore, draws: Draws, recipe: Recipe
) -> Iterator[dict[str, str]]:
    """All parts that a run with a frozen backbone will ask the vectors of."""
    for trial in (*trials, *score.trials):
        yield dict(trial.parts)
    for _, draw in zip(range(recipe.steps), draws.from_step(), strict=False):
        for each in draw.texts():
            yield dict(each)


@torch.no_grad()
def _start(model: Trial2Vec, trials: Sequence[TrialParts], as_tensors: AsTensors, recipe: Recipe) -> None:
    """Where the head begins: the parts' weights, their centres and principal axes."""
    names = [part.name for part in model.parts]
    unknown = sorted(set(recipe.prior) - set(names))
    if unknown:
        raise TrainingInvalid(
            f"prior names {', '.join(unknown)}: expected parts, which are {', '.join(names)}"
        )
    device = next(model.parameters()).device
    model.head.start(prior=torch.tensor([recipe.prior.get(name, 1.0) for name in names], device=device))
    if not recipe.centred:
        return
    model.eval()
    some = next(minibatches(len(trials), min(len(trials), _SAMPLE), recipe.seed)).tolist()
    found = []
    for start in range(0, len(some), _ROWS):
        tensors = as_tensors([trials[number].parts for number in some[start : start + _ROWS]])
        found.append(pooled(model, tuple(each.to(device) for each in tensors)))
    vectors = torch.cat([each for each, _ in found])
    there = torch.cat([each for _, each in found])
    centres = vectors.sum(0) / there.sum(0).clamp(min=1)[:, None]
    model.head.start(centres=centres)
    width = vectors.shape[-1]
    if model.head.dim < width:
        flat = model.head.inner(vectors, there).flatten(0, 1).double()
        _, axes = torch.linalg.eigh(flat.T @ flat)  # in ascending order
        model.head.start(values=axes.T.flip(0)[: model.head.dim].float())


def _named(trials: Sequence[TrialParts]) -> str:
    """What is learned from, in short: the trials and their texts."""
    found = hashlib.sha256()
    for trial in trials:
        found.update(json.dumps([trial.id, *sorted(trial.parts.items())]).encode())
    return f"{len(trials)} ({found.hexdigest()[:12]})"


def _said(step: ContrastStep) -> str:
    dev = "" if step.dev is None else f", dev {step.dev:.3f}"
    return f"loss {step.loss:.3f}, accuracy {step.accuracy:.2f}{dev}"


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    seconds[stage] = time.monotonic() - started
