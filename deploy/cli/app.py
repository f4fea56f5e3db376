"""The `trifuse` command: gathers the groups, and turns errors into one sentence."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated

import typer

from trifuse.deploy.cli import clicks, demo, fetch, load, search, sync
from trifuse.deploy.cli.common import err
from trifuse.encoder.errors import TrifuseError

app = typer.Typer(
    name="trifuse",
    help="Dense vectors and a click log as ranking signals beside BM25, on OpenSearch.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"trifuse {importlib.metadata.version('trifuse')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Start with [bold]trifuse demo[/bold], or [bold]trifuse up[/bold] and [bold]trifuse load[/bold]."""


clicks.register(app)
demo.register(app)
fetch.register(app)
load.register(app)
search.register(app)
sync.register(app)


def main() -> None:
    """Run the command line; errors that trifuse raises on purpose end it with their message, status 1."""
    try:
        app()
    except TrifuseError as error:
        err.print(f"trifuse: {error}", style="red", markup=False)
        sys.exit(1)
