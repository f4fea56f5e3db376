"""The first training, by masked words: done once, and found again when a run is resumed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch
from accelerate import PartialState
from accelerate.utils import set_seed

from trifuse.encoder.errors import CheckpointInvalid
from trifuse.encoder.training.checkpoints import Checkpoint
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
    made_by = {
        key: value for key, value in recipe.as_dict().items() if key.startswith("mlm_") or key == "seed"
    }
    done = state / _DONE
    if resume and done.exists():
        saved: dict[str, Any] = torch.load(done, weights_only=True, map_location="cpu")
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
    here = PartialState()
    if here.is_main_process:
        _keep(done, {"recipe": made_by, "loss": loss, "backbone": start.transformer.state_dict()})
        shutil.rmtree(state / "words", ignore_errors=True)
    here.wait_for_everyone()
    return loss


def _keep(path: Path, learned: dict[str, Any]) -> None:
    """Write what was learned; the file has its name only once it is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    torch.save(learned, new)
    new.replace(path)
