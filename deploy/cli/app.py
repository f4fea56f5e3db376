"""The `trifuse` command: gathers the groups, and turns errors into one sentence."""

from __future__ import annotations

import importlib.metadata
import io
import sys
from textwrap import shorten
from typing import Annotated, Any, NoReturn

import opensearchpy
import redis
import typer
from typer.core import TyperGroup

from trifuse.deploy.cli import (
    INTERRUPTED,
    aspect,
    attach,
    clicks,
    demo,
    detach,
    encoders,
    evaluate,
    fetch,
    load,
    map,
    outcome,
    profile,
    reembed,
    search,
    services,
    similar,
    study,
    sync,
    train,
    tune,
)
from trifuse.deploy.cli.common import fail, say
from trifuse.encoder.errors import TrifuseError
from trifuse.indexer.retry import reason_of

_LONGEST_REASON = 300
_BAD_PATHS = ("Symlink loop", "Could not determine home directory")
"""What pathlib says, without a class of its own, of a path that can't be resolved."""


class _Commands(TyperGroup):
    """Ctrl-C inside a command ends it with one sentence; typer would end it without a word."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("interrupted: what was done stays, and the same command goes on from there", INTERRUPTED)


app = typer.Typer(
    name="trifuse",
    cls=_Commands,
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


aspect.register(app)
attach.register(app)
clicks.register(app)
demo.register(app)
detach.register(app)
encoders.register(app)
evaluate.register(app)
fetch.register(app)
load.register(app)
map.register(app)
outcome.register(app)
profile.register(app)
reembed.register(app)
search.register(app)
services.register(app)
similar.register(app)
study.register(app)
sync.register(app)
train.register(app)
tune.register(app)


def main() -> None:
    """Run the command line; whatever is no fault of the code ends it with one sentence and status 1."""
    if sys.stdout is None:  # closed by the shell (>&-)
        _end("there is nowhere to write to: stdout is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):  # what the terminal's encoding lacks is written as escapes
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except TrifuseError as error:
        _end(str(error))
    except opensearchpy.exceptions.ConnectionError as error:
        _end(f"OpenSearch can't be reached: {error.error}; check --opensearch, or run `trifuse up`")
    except opensearchpy.exceptions.TransportError as error:
        _end(f"OpenSearch refused with status {error.status_code}: {_reason(error)}{_remedy(error)}")
    except opensearchpy.exceptions.OpenSearchException as error:
        _end(f"what answers isn't OpenSearch ({error}); check --opensearch")
    except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError) as error:
        _end(f"Redis can't be reached: {error}; check --redis and --broker, or run `trifuse up`")
    except redis.exceptions.RedisError as error:
        _end(f"Redis refused: {error}; check --redis and --broker, and the server's settings")
    except RuntimeError as error:
        if not str(error).startswith(_BAD_PATHS):
            raise
        _end(f"{error}; check the paths, then do the same again")
    except OSError as error:  # a full disk, a folder that vanished
        _end(f"{error}; check the disk and the paths, then do the same again")


def _reason(error: opensearchpy.exceptions.TransportError) -> str:
    """What OpenSearch says of its reason, as far as it is short."""
    # A proxy sends a whole page.
    return shorten(reason_of(error), _LONGEST_REASON, placeholder=" ...").rstrip("; ")


def _remedy(error: opensearchpy.exceptions.TransportError) -> str:
    if "blocked by" in str(error.info):
        return (
            "; free disk if that is the reason, take the block off (index.blocks.* in the index's settings), "
            "then do the same again"
        )
    if "index_closed_exception" in str(error.info):
        return "; open the index (POST /INDEX/_open), then do the same again"
    remedies: dict[int | str, str] = {
        401: "check the user and the password in --opensearch",
        403: "give the user of --opensearch that right",
        429: "do the same again later",
    }
    remedy = remedies.get(error.status_code)
    return f"; {remedy}" if remedy else ""


def _end(message: str) -> NoReturn:
    say(message)
    sys.exit(1)
