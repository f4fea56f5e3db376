"""What every `trifuse train` command has: its options, where its model goes, and the extra that it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from trifuse.deploy.cli import INTERRUPTED
from trifuse.deploy.cli.common import MOST_SEED, fail
from trifuse.encoder.adapter_files import ADAPTER_FILE
from trifuse.encoder.description import DESCRIPTION_FILE, NAME_PATTERN
from trifuse.encoder.errors import TrainingMissing
from trifuse.encoder.training.report import STATE_FOLDER

_Recipe = TypeVar("_Recipe", bound=Any)

RECIPE = {"rich_help_panel": "How to train (without: the recipe's)"}
DATA = {"rich_help_panel": "What to learn from"}


def checked_name(given: str | None) -> str | None:
    """The name; wrong usage where none can have it: said before the training, not after it."""
    if given is not None and not re.fullmatch(NAME_PATTERN, given):
        raise typer.BadParameter(f"{given!r}: expected lower-case letters, digits, `.`, `_` and `-`")
    return given


OutOption = Annotated[Path, typer.Option("--out", file_okay=False, help="The folder to put the model in.")]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name",
        help="The model's name, part of its space's id. Without it: the folder's.",
        callback=checked_name,
    ),
]
CheckpointOption = Annotated[
    str,
    typer.Option(
        "--checkpoint",
        help="Start from a Hugging Face checkpoint's folder, or from a model by name.",
        **RECIPE,
    ),
]
RateOption = Annotated[float | None, typer.Option("--learning-rate", help="The highest.", **RECIPE)]
LayersOption = Annotated[
    int | None,
    typer.Option("--trained-layers", help="Train only so many upper layers of the backbone.", **RECIPE),
]
SeedOption = Annotated[
    int, typer.Option("--seed", min=0, max=MOST_SEED, help="Of all that is drawn.", **RECIPE)
]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Go on from the state in the folder, where there is one.")
]
SaveOption = Annotated[int, typer.Option("--save-every", min=1, help="Steps between two states.")]

DEFAULT_CHECKPOINT = "bge-small-en-v1.5"


def model_name(folder: Path, otherwise: str = "lader") -> str:
    """A name that a model may have, from its folder's.

    >>> model_name(Path("My LADER (2)"))
    'my-lader-2'
    """
    return re.sub(r"[^a-z0-9._]+", "-", folder.resolve().name.lower()).strip("-._")[:64] or otherwise


def with_options(recipe: _Recipe, seed: int, **given: Any) -> _Recipe:
    """A recipe with the numbers that were given (not None) in the place of its own.

    Of other steps as large a part is warm-up as the recipe has, where that wasn't given too.
    """
    chosen = {option: value for option, value in given.items() if value is not None}
    if "steps" in chosen and "warmup_steps" not in chosen:
        chosen["warmup_steps"] = chosen["steps"] * recipe.warmup_steps // recipe.steps
    return replace(recipe, seed=seed, **chosen)


def require_room(folder: Path, *, resume: bool) -> None:
    """Wrong usage where hours of work would be overwritten."""
    begun = (folder / STATE_FOLDER).exists()
    there = any((folder / file).exists() for file in (DESCRIPTION_FILE, ADAPTER_FILE))
    if there and not (resume and begun):
        raise typer.BadParameter(
            f"there is a model in {str(folder)!r} already: choose another folder", param_hint="--out"
        )
    if begun and not resume:
        raise typer.BadParameter(
            f"a run was begun in {str(folder)!r}: go on with --resume, or choose another folder",
            param_hint="--out",
        )


@contextmanager
def extra() -> Iterator[None]:
    """Say which extra is missing, where what is imported here isn't installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise TrainingMissing(
            f"training needs {error.name}, which isn't installed: pip install 'trifuse[train]' (about 6 GB "
            "with CUDA's libraries; serving the model needs none of it)"
        ) from error


@contextmanager
def resumable() -> Iterator[None]:
    """Ctrl-C says how to go on: a run that was begun isn't begun anew by the same command."""
    try:
        yield
    except KeyboardInterrupt:
        fail("interrupted: what was saved stays, and the same command with --resume goes on", INTERRUPTED)
