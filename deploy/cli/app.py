"""The `trifuse` command: gathers the groups, and turns errors into one sentence."""

from __future__ import annotations

import importlib.metadata
import sys
from typing import Annotated, NoReturn

import opensearchpy
import redis
import typer

from trifuse.deploy.cli import clicks, demo, encoders, fetch, load, search, services, sync
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
encoders.register(app)
fetch.register(app)
load.register(app)
search.register(app)
services.register(app)
sync.register(app)


def main() -> None:
    """Run the command line; whatever is no fault of the code ends it with one sentence and status 1."""
    try:
        app()
    except TrifuseError as error:
        _end(str(error))
    except opensearchpy.exceptions.ConnectionError as error:
        _end(f"OpenSearch can't be reached: {error.error}; check --opensearch, or run `trifuse up`")
    except opensearchpy.exceptions.TransportError as error:
        _end(f"OpenSearch refused with status {error.status_code}: {_reason(error)}")
    except redis.exceptions.ConnectionError as error:
        _end(f"Redis can't be reached: {error}; check --redis and --broker, or run `trifuse up`")


def _reason(error: opensearchpy.exceptions.TransportError) -> str:
    """What OpenSearch says of its reason, which `info` holds where the answer was JSON."""
    found = error.info.get("error") if isinstance(error.info, dict) else None
    return str(found.get("reason") if isinstance(found, dict) else found or error.error)


def _end(message: str) -> NoReturn:
    err.print(f"trifuse: {message}", style="red", markup=False, soft_wrap=True)
    sys.exit(1)
