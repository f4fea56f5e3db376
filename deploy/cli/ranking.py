"""What the commands that rank have in common: how a body and a profile are given."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from trifuse.deploy.cli.common import fail
from trifuse.ranker import BodyError, Profile
from trifuse.ranker.errors import MeasureUnknown, ProfileError
from trifuse.ranker.published import published

BodyOption = Annotated[
    str | None,
    typer.Option("--body", help="Your own search body: JSON, or a file of it; {{text}} stands for the text."),
]


@contextmanager
def usage() -> Iterator[None]:
    """What was asked for wrongly ends the command with status 2."""
    try:
        yield
    except (BodyError, MeasureUnknown, ProfileError) as error:
        fail(str(error), status=2)


def json_object(given: str | None, option: str) -> dict[str, Any] | None:
    """An object from JSON, or from a file that holds it."""
    if given is None:
        return None
    try:
        content = given if given.lstrip().startswith("{") else Path(given).read_text("utf-8")
        value = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        fail(f"{option} {given!r} is neither a JSON object nor a file of one: {error}", status=2)
    if not isinstance(value, dict):
        fail(f"{option} {given!r} holds {type(value).__name__}: give a JSON object", status=2)
    return value


def read_profile(given: str | None) -> Profile:
    """A profile by its name, from weights, or from JSON or a file of it; the default where nothing is given.

    Raises:
        ProfileError: it is none of these, or its settings are out of range.
    """
    if given is None:
        return Profile()
    built_in = published()
    if given in built_in:
        return built_in[given]
    if given.lstrip().startswith("{") or _is_file(given):
        return Profile.from_dict(json_object(given, "--profile") or {})
    if "=" in given:
        return Profile.parse(given)
    raise ProfileError(
        f"there is no profile and no file {given!r}: give one of {', '.join(built_in)}, weights such as "
        "lexical=0.5,dense=0.5, or a file of JSON"
    )


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # too long for a name, or a character that none has
        return False
