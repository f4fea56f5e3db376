"""`trifuse fetch-trials`: studies of a condition from the registry's API, as NDJSON."""

from __future__ import annotations

import gzip
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, Annotated, cast

import typer
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import JsonOption, emit, err
from trifuse.indexer.errors import RegistryError
from trifuse.indexer.fetch import REGISTRY_API, StudyQuery, fetch_studies


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fetch-trials")(fetch_trials)


def fetch_trials(
    condition: Annotated[
        str | None, typer.Option("--condition", help="A disease or condition, in the registry's own syntax.")
    ] = None,
    term: Annotated[str | None, typer.Option("--term", help="Any other search term.")] = None,
    limit: Annotated[int, typer.Option("--max", min=1, help="The most studies to fetch.")] = 1000,
    out_file: Annotated[
        Path | None,
        typer.Option("--out", dir_okay=False, help="Write to this file (.gz packs it) instead of stdout."),
    ] = None,
    api: Annotated[str, typer.Option("--api", help="The API's base URL.")] = REGISTRY_API,
    as_json: JsonOption = False,
) -> None:
    """Fetch trials from the registry as NDJSON, ready for [bold]trifuse load[/bold].

    Example: [bold]trifuse fetch-trials --condition asthma --max 500 --out asthma.ndjson.gz[/bold]
    """
    query = StudyQuery(condition=condition, term=term)
    if not query.params():
        raise typer.BadParameter("say which trials: --condition, --term or both", param_hint="--condition")
    if as_json and out_file is None:
        raise typer.BadParameter(
            "the trials themselves go to stdout: name a file as well", param_hint="--out"
        )
    fetched = 0
    with _opened(out_file) as target, _progress() as progress:
        task = progress.add_task("fetching", total=limit)

        def show_total(total: int) -> None:
            progress.update(task, total=min(total, limit))

        try:
            for study in fetch_studies(query, limit=limit, api=api, on_total=show_total):
                target.write(study + b"\n")
                fetched += 1
                progress.update(task, completed=fetched)
        except RegistryError as error:
            if out_file is not None and not fetched:
                out_file.unlink(missing_ok=True)  # an empty file would look like an answer
            raise RegistryError(f"{error} ({fetched} trials were written before)") from error
    if as_json:
        emit({"fetched": fetched, "file": str(out_file)})
    else:
        err.print(f"{fetched} trials" + (f" in {out_file}" if out_file else ""), markup=False)


def _opened(path: Path | None) -> AbstractContextManager[IO[bytes]]:
    if path is None:
        return nullcontext(sys.stdout.buffer)
    try:
        return cast(IO[bytes], gzip.open(path, "wb")) if path.suffix == ".gz" else path.open("wb")
    except OSError as error:
        raise typer.BadParameter(
            f"can't write {str(path)!r}: {error.strerror}", param_hint="--out"
        ) from error


def _progress() -> Bars:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Bars(*columns)
