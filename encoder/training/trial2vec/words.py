"""The first training, by masked words: done once, and found again when a run is resumed."""

from __future__ import annotations

import hashlib
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import set_seed

from trifuse.encoder.errors import CheckpointInvalid
from trifuse.encoder.training.checkpoints import Checkpoint
from trifuse.encoder.training.state import undamaged, written
from trifuse.encoder.training.trial2vec.cache import backbone_key
from trifuse.encoder.training.trial2vec.examples import TrialParts
from trifuse.encoder.training.trial2vec.mlm import Windows, train_words
from trifuse.encoder.training.trial2vec.recipe import Recipe
from trifuse.encoder.training.trial2vec.run import Progress

_DONE = "words.pt"


def learn_words(
    start: Checkpoint,
    trials: Sequence[TrialParts],
    texts: Iterable[str],
    recipe: Recipe,
    state: Path,
    *,
    resume: bool = False,
    save_every: int = 500,
    progress: Callable[[Progress], None] = lambda so_far: None,
) -> list[float]:
    """Train the checkpoint's transformer on masked words, by the recipe's `mlm_*`.

    Args:
        texts: more of them, beside the trials'.
        state: a folder for the run's state; what was learned stays there, so that a resumed run takes it.

    Returns:
        the loss of every step; none where the recipe wants no such training.

    Raises:
        TrainingInvalid, CheckpointInvalid: the texts, the tokenizer or the state can't be used.
    """
    if not recipe.mlm_epochs:
        return []
    seen = hashlib.sha256()

    def told(text: str) -> str:
        seen.update(text.encode("utf-8", "surrogatepass") + b"\n")
        return text

    every = map(told, chain((text for trial in trials for text in trial.parts.values()), texts))
    done = state / _DONE
    there = resume and done.exists()
    windows = None if there else Windows(every, start.tokenizer, recipe.mlm_tokens)
    deque(every, maxlen=0)  # where they needn't be cut into windows they are told, too
    learned_from = {
        "backbone": backbone_key(start.transformer, start.pooling, start.tokenizer),
        "texts": seen.hexdigest()[:12],
    }
    chosen = {key: value for key, value in recipe.as_dict().items() if key.startswith("mlm_")}
    made_by = {**chosen, "seed": recipe.seed, **learned_from}
    if windows is None:
        return _take(done, made_by, start)
    set_seed(recipe.seed)
    loss = train_words(
        start.transformer,
        windows,
        recipe,
        state / "words",
        learned_from=learned_from,
        resume=resume,
        save_every=save_every,
        on_step=lambda step, of, value: progress(Progress("words", step, of, f"loss {value:.3f}")),
    )
    here = PartialState()
    if here.is_main_process:
        _keep(done, {"recipe": made_by, "loss": loss, "backbone": start.transformer.state_dict()})
        shutil.rmtree(state / "words", ignore_errors=True)
    here.wait_for_everyone()
    return loss


def _take(path: Path, made_by: Mapping[str, Any], start: Checkpoint) -> list[float]:
    """Give the transformer what was learned.

    Raises:
        CheckpointInvalid: it was learned otherwise, or the file is damaged.
    """
    with undamaged(path):
        saved: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
        if saved["recipe"] == made_by:
            start.transformer.load_state_dict(saved["backbone"])
            return list(saved["loss"])
    raise CheckpointInvalid(
        f"the run in {path.parent} was begun with {saved['recipe']}: resume it with what it was begun with, "
        "or train into another folder"
    )


def _keep(path: Path, learned: dict[str, Any]) -> None:
    """Write what was learned; the file has its name only once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    with written(new):
        torch.save(learned, new)
    new.replace(path)
