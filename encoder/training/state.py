"""A run's state on the disk: weights, optimizer, schedule, random numbers, and what was done so far."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from accelerate import Accelerator
from accelerate.utils import RNG_STATE_NAME, load
from safetensors import SafetensorError

from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid

RECIPE_FILE = "recipe.json"


class History:
    """The loss of every step so far, and whatever else a training notes: all its attributes are kept."""

    def __init__(self) -> None:
        self.loss: list[float] = []

    @property
    def steps(self) -> int:
        """How many steps were done."""
        return len(self.loss)

    def state_dict(self) -> dict[str, Any]:
        """What is kept of it in a state."""
        return dict(self.__dict__)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take back what `state_dict` gave."""
        for name in self.__dict__:
            setattr(self, name, state[name])


class Described(Protocol):
    """A recipe of any training."""

    def as_dict(self) -> dict[str, Any]:
        """What must be the same when a run is resumed, as JSON."""
        ...


class SavedState:
    """The states of one run, of which the last whole one is kept.

    Args:
        folder: holds `step-000500` and the like; made at the first save.
        recipe: must be the same when the run is resumed.
        schedule, history: are kept with the state.
    """

    def __init__(
        self, accelerator: Accelerator, folder: Path, recipe: Described, schedule: Any, history: History
    ) -> None:
        self._accelerator = accelerator
        self._folder = folder
        self._recipe = recipe.as_dict()
        self._history = history
        accelerator.register_for_checkpointing(schedule, history)

    def save(self) -> None:
        """Write a state; it has its name only once it is whole, and the ones before it are removed then."""
        target = self._folder / f"step-{self._history.steps:07d}"
        new = target.with_suffix(".new")
        with written(new):
            self._accelerator.save_state(str(new))
        self._accelerator.wait_for_everyone()
        if self._accelerator.is_main_process:
            (new / RECIPE_FILE).write_text(json.dumps(self._recipe, indent=2) + "\n")
            before = self._whole()
            shutil.rmtree(target, ignore_errors=True)  # of a run that was given up
            new.rename(target)
            for folder in before:
                if folder != target:
                    shutil.rmtree(folder)
        self._accelerator.wait_for_everyone()

    def load(self) -> None:
        """Take back the last whole state, if there is one.

        Raises:
            CheckpointInvalid: it is of another recipe, or damaged.
        """
        whole = self._whole()
        if not whole:
            return
        with undamaged(whole[-1]):
            recipe = dict(json.loads((whole[-1] / RECIPE_FILE).read_text()))
        other = {name for name, value in self._recipe.items() if recipe.get(name) != value}
        if other:
            said = ", ".join(
                f"{name} {recipe.get(name)} (now {self._recipe[name]})" for name in sorted(other)
            )
            raise CheckpointInvalid(
                f"the run in {self._folder} was begun with {said}: resume it with what it was begun with, or "
                "train into another folder"
            )
        with undamaged(whole[-1]):
            self._accelerator.load_state(str(whole[-1]))
            # Where it can't read random numbers it goes on without a word, to another result.
            load(whole[-1] / f"{RNG_STATE_NAME}_{self._accelerator.process_index}.pkl")

    def _whole(self) -> list[Path]:
        return sorted(path for path in self._folder.glob("step-*") if path.suffix != ".new")


@contextmanager
def undamaged(state: Path) -> Iterator[None]:
    """Say that a state is damaged, where it can't be read.

    Raises:
        CheckpointInvalid: in the place of what torch, pickle, or safetensors raise.
    """
    try:
        yield
    except (
        OSError,
        ValueError,
        RuntimeError,
        EOFError,
        LookupError,
        TypeError,
        pickle.PickleError,
        SafetensorError,
    ) as error:
        raise CheckpointInvalid(
            f"{state} is damaged ({type(error).__name__}): delete it, and do the same again with --resume"
        ) from error


@contextmanager
def written(path: Path) -> Iterator[None]:
    """What torch and safetensors raise of a full disk, as what Python does.

    Raises:
        OSError: naming the path.
    """
    try:
        yield
    except (RuntimeError, SafetensorError) as error:
        raise OSError(f"{path} can't be written ({str(error).splitlines()[0]})") from error


@contextmanager
def sole_run(folder: Path, accelerator: Accelerator) -> Iterator[None]:
    """A run's folder, made where it isn't there; no other run may go on in it meanwhile.

    Raises:
        TrainingInvalid: another run is in it.
        OSError: it can't be made, or written to: said before the work, not after it.
    """
    if not accelerator.is_main_process:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        pass
    opened = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TrainingInvalid(
                f"another run is training into {folder}: wait for it, or choose another folder"
            ) from error
        yield
    finally:
        os.close(opened)
