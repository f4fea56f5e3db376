"""`trifuse encoders`: the models that are known by name, and whether one does here what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from trifuse.deploy.cli.common import JsonOption, emit, fail, out, say
from trifuse.encoder.check import EncoderCheck, check_encoder
from trifuse.encoder.errors import EncoderError
from trifuse.encoder.registry import DEFAULT_ENCODER, ListedModel, list_models, load_encoder

ModelArgument = Annotated[str, typer.Argument(metavar="NAME_OR_PATH", help="A model's name or folder.")]
DeviceOption = Annotated[
    str, typer.Option("--device", envvar="TRIFUSE_DEVICE", help="cpu, cuda or cuda:1.", show_envvar=True)
]

_CAPTION = "* the default\na query's space is NAME-SPACE; a document's adds its text template"
_LIST_KEYS = ("dimension", "pooling", "precision", "licence")


def register(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(name="encoders", help="Models that make vectors.", no_args_is_help=True)
    group.command("list")(list_command)
    group.command("check")(check_command)
    app.add_typer(group)


def list_command(as_json: JsonOption = False) -> None:
    """List the models that are known by name: ours, and those of installed packages.

    Ends with status 1 where one of them is damaged; the others are listed.

    Example: [bold]trifuse encoders list[/bold]
    """
    damaged: dict[str, EncoderError] = {}
    models = list_models(damaged.__setitem__)
    if as_json:
        emit(
            [
                {
                    "name": model.name,
                    **{key: getattr(model.description, key) for key in _LIST_KEYS},
                    "parts": model.description.parts,
                    "cached": model.cached,
                    "default": model.name == DEFAULT_ENCODER,
                    "space": model.space.id,
                }
                for model in models
            ]
        )
    else:
        _show(models)
    for name, error in damaged.items():
        say(f"the model {name!r} can't be used: {error}")
    if damaged:
        raise typer.Exit(1)


def _show(models: Sequence[ListedModel]) -> None:
    table = Table(
        "name", "dim", "pooling", "precision", "licence", "cached", "space",
        box=None, padding=(0, 1, 0, 0), caption=_CAPTION,
        caption_justify="left",
    )  # fmt: skip
    for model in models:
        table.add_row(
            model.name + (" *" if model.name == DEFAULT_ENCODER else ""),
            *(str(getattr(model.description, key)) for key in _LIST_KEYS),
            "yes" if model.cached else "no",
            model.space.id.removeprefix(f"{model.name}-"),
        )
    out.print(table)
    for model in models:
        if model.description.parts:
            shown = (
                f"{part.name} (context)" if part.context else part.name for part in model.description.parts
            )
            out.print(f"{model.name} takes parts: {', '.join(shown)}", markup=False, soft_wrap=True)


def check_command(model: ModelArgument, device: DeviceOption = "cpu", as_json: JsonOption = False) -> None:
    """Start a model, encode probe texts together and one by one, and compare.

    Ends with status 1 where a vector depends on its neighbours, a norm is off,
    or a cut text isn't flagged.

    Example: [bold]trifuse encoders check bge-small-en-v1.5 --device cpu[/bold]
    """
    found = check_encoder(load_encoder(model, device=device))
    if as_json:
        emit({**asdict(found), "space": found.space.id, "dimension": found.space.dimension})
    else:
        out.print(
            f"space      {found.space.id}\n"
            f"provider   {found.provider}\n"
            f"vectors    {found.space.dimension} numbers, {found.space.pooling} pooling\n"
            f"parts      {', '.join(found.space.parts) or 'none: plain texts'}\n"
            f"norms      {found.norms[0]:.6f} to {found.norms[1]:.6f}\n"
            f"parity     {found.parity:.2g} (largest difference between a text among others and alone)\n"
            f"queries    {_queries(found)}\n"
            f"truncated  {len(found.truncated)} of {found.texts} probe texts",
            markup=False,
        )
    if found.faults:
        fail("; ".join(found.faults))


def _queries(found: EncoderCheck) -> str:
    if found.towers == 2:
        return f"encoded by a tower of their own ({found.space.query_tower})"
    return "prefixed" if found.roles_differ else "encoded as documents are"
