"""Trial2Vec (Wang and Sun 2022), from a checkpoint and trials to a model's folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from trifuse.encoder.description import MODEL_FILE
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.parts import Part
from trifuse.encoder.training.checkpoints import open_checkpoint
from trifuse.encoder.training.entities import EntitySource
from trifuse.encoder.training.report import STATE_FOLDER, finish_run
from trifuse.encoder.training.state import sole_run
from trifuse.encoder.training.trial2vec.draw import require_enough
from trifuse.encoder.training.trial2vec.examples import TrialParts
from trifuse.encoder.training.trial2vec.export import describe, export_trial2vec, quantize_trial2vec
from trifuse.encoder.training.trial2vec.learn import learn, usable
from trifuse.encoder.training.trial2vec.model import PARTS
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.report import Trial2VecReport
from trifuse.encoder.training.trial2vec.run import Progress, accelerator_for
from trifuse.encoder.training.trial2vec.words import learn_words

_ROUNDED_OF = 100


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
    int8: bool = False,
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
        int8: put the model there with weights of 8 bits: a quarter of the size, and a space of its own.
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
    state = folder / STATE_FOLDER
    learned, without_text = usable(trials, parts)
    require_enough(learned, recipe)
    began = time.monotonic()
    with sole_run(folder, accelerator), open_checkpoint(checkpoint) as start:
        words_loss = learn_words(
            start, learned, texts, recipe, state, resume=resume, save_every=save_every, progress=progress
        )
        words = time.monotonic() - began
        found = learn(
            start,
            learned,
            recipe,
            state,
            accelerator,
            source=source,
            dev=usable(dev, parts)[0],
            parts=parts,
            cache=cache,
            resume=resume,
            save_every=save_every,
            progress=progress,
        )
        if not accelerator.is_main_process:
            return None
        exporting = time.monotonic()
        description = describe(found.model, name, licence=start.licence)
        exported = state / "fp32" if int8 else folder
        parity = export_trial2vec(found.model, start.tokenizer, description, exported)
        rounded = None
        if int8:
            some = [trial.parts for trial in learned[:_ROUNDED_OF]]
            rounded = quantize_trial2vec(exported, folder, name=name, trials=some)
    history = found.history
    seconds = {"words": words, **found.seconds, "export": time.monotonic() - exporting}
    report = Trial2VecReport(
        model=name,
        sha256=sha256_of(folder / MODEL_FILE),
        checkpoint=checkpoint,
        recipe=recipe,
        trials=len(learned),
        without_text=without_text,
        dev_trials=len(found.score),
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
        rounded=rounded,
    )
    finish_run(folder, report)
    return report
