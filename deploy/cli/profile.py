"""`trifuse profile`: the rankings that are there by name."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from trifuse.deploy.cli.common import JsonOption, emit, out
from trifuse.deploy.cli.ranking import read_profile, usage
from trifuse.ranker import Profile
from trifuse.ranker.click_settings import SEGMENTS
from trifuse.ranker.published import published
from trifuse.ranker.types import LEGS

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="A name, weights, or a file of JSON.")]

commands = typer.Typer(name="profile", help="Weights and settings of rankings.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(commands)


@commands.command("list")
def list_command(as_json: JsonOption = False) -> None:
    """The profiles that `search` and `evaluate` know by name.

    Example: [bold]trifuse profile list[/bold]
    """
    profiles = published()
    if as_json:
        emit({name: profile.as_dict() for name, profile in profiles.items()})
    else:
        out.print(_table(profiles))


@commands.command("show")
def show_command(name: NameArgument) -> None:
    """A profile as JSON, every setting named: the start of your own.

    Example: [bold]trifuse profile show lader > mine.json[/bold]
    """
    with usage():
        emit(read_profile(name).as_dict())


def _table(profiles: dict[str, Profile]) -> Table:
    table = Table(
        caption="weight and normalization (clicks: HEAD/TORSO/TAIL where they differ); m: past queries"
    )
    table.add_column("profile", no_wrap=True)
    for leg in LEGS:
        table.add_column(leg)
    table.add_column("depth", justify="right")
    table.add_column("m", justify="right")
    for name, profile in profiles.items():
        weights = (_weight(profile, leg) for leg in LEGS)
        past = str(profile.clicks.m) if profile.weights["clicks"] > 0 else "-"
        table.add_row(name, *weights, str(profile.depth), past)
    return table


def _weight(profile: Profile, leg: str) -> str:
    if profile.weights[leg] == 0:
        return "-"
    weights = [profile.weights_in(segment)[leg] for segment in SEGMENTS]
    shown = "/".join(f"{weight:g}" for weight in (weights if len(set(weights)) > 1 else weights[:1]))
    return f"{shown} {profile.normalization_of(leg)}"
