"""`trifuse detach`: take out of an index what `trifuse attach` put in."""

from __future__ import annotations

from typing import Annotated

import typer

from trifuse.deploy.cli.common import (
    IndexArgument,
    JsonOption,
    OpenSearchOption,
    emit,
    err,
    fail,
    print_lines,
)
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.indexer.attach import detach

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("detach")(detach_command)


def detach_command(
    index: IndexArgument,
    yes: YesOption = False,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Take vectors and marks out of an index, and say what stays. Interrupted, run it again.

    Example: [bold]trifuse detach articles --yes[/bold]
    """
    settings = resolve(opensearch=opensearch)
    client = require_opensearch(opensearch_client(settings), settings)
    if not yes and not typer.confirm(f"Take all vectors out of {index}?", err=True):
        fail(f"{index} is as it was")
    with err.status(f"detaching {index}") as status:
        report = detach(client, index, progress=lambda done: status.update(f"{done:,} documents done"))
    if as_json:
        emit(report)
        return
    print_lines(
        [
            f"took vectors and marks out of {report.documents:,} documents of {', '.join(report.indexes)}",
            *(f"deleted the index {name}" for name in report.deleted),
            *(f"stays: {what}" for what in report.stays),
        ]
    )
