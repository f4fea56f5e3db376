"""`trifuse load`: trials from files into an index."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from trifuse.deploy.cli import INTERRUPTED
from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    PartVectorsOption,
    RedisOption,
    emit,
    fail,
    index_name,
    key_parts,
    say_encoder,
    terminable,
)
from trifuse.deploy.cli.load_output import estimated, fail_rejected, progress_bar, tell
from trifuse.deploy.cli.report_file import (
    ReportOption,
    rejected_beside,
    require_apart,
    require_writable,
    write_report,
)
from trifuse.deploy.config import Settings, celery_app, opensearch_client, require_opensearch, resolve
from trifuse.encoder.registry import describe_encoder, describe_model
from trifuse.encoder.spaces import Space
from trifuse.indexer.errors import PathNotFound
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.load import load
from trifuse.indexer.readers import Record, Rejection, read_trials
from trifuse.indexer.readers.read import STDIN, require_path
from trifuse.indexer.report import LoadReport
from trifuse.indexer.trial_parts import template_for

PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Files, folders or zips; - is standard input.")
]
IndexOption = Annotated[
    str, typer.Option("--index", help="The index; made if it is missing.", callback=index_name)
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Stop after so many records.")]
SentencesOption = Annotated[
    bool, typer.Option("--sentences", help="Also write each sentence into an index of its own.")
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load")(load_command)


def load_command(
    paths: PathsArgument,
    index: IndexOption,
    limit: LimitOption = None,
    sentences: SentencesOption = False,
    part_vectors: PartVectorsOption = False,
    report: ReportOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Load trials: searchable by BM25 at once, by vectors as the workers catch up.

    Reads the registry's API v2 JSON, legacy XML, CSV exports and flat JSONL, plain, gzip'd or zipped.

    A flat line is such as {"nct_id": "NCT00000001", "brief_title": "…", "brief_summary": "…",
    "conditions": ["asthma"], "status": "RECRUITING"}: the fields of the index, where nct_id is
    needed: NCT and eight digits.

    Records that the index has already are left alone: the same command may be run again at any time.

    Example: [bold]trifuse load studies.json --index trials[/bold]
    """
    for path in paths:
        if path != STDIN:
            try:
                require_path(path)
            except PathNotFound as error:
                raise typer.BadParameter(str(error), param_hint="PATH") from error
    if report is not None:
        require_apart(report, paths)
    dead_letter = _dead_letter(index, report)
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    model, vectors = describe_model(settings.encoder), describe_encoder(settings.encoder)
    parts = key_parts(model) if part_vectors else ()
    space = Space(vectors, template_for(vectors, model.pair_separator))
    say_encoder(vectors)
    items: Iterable[Record | Rejection] = read_trials(paths, stdin=sys.stdin.buffer)
    if sentences:
        items = estimated(items, limit, space.encoder)
    latest = LoadReport(index=index)
    with progress_bar(limit) as progress, terminable():
        task = progress.add_task("loading", total=limit, rejected=0)

        def show(so_far: LoadReport) -> None:
            nonlocal latest
            latest = so_far
            progress.update(task, completed=so_far.read, rejected=len(so_far.rejected))

        try:
            latest = load(
                require_opensearch(opensearch_client(settings), settings),
                items,
                index,
                space=space,
                enqueue=_enqueue(settings),
                dead_letter=dead_letter,
                progress=show,
                sentences=sentences,
                part_vectors=parts,
                limit=limit,
            )
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if report is not None:
                write_report(report, latest)
    if as_json:
        emit(latest)
    else:
        tell(latest)
    if interrupted:
        fail("interrupted: what was written stays, the same command goes on from there", INTERRUPTED)
    if latest.rejected:
        fail_rejected(latest)


def _dead_letter(index: str, report: Path | None) -> Path:
    """Where rejected records go: beside the report, else into the current folder."""
    path = rejected_beside(report) if report else Path(f"{index}.rejected.ndjson")
    require_writable(path)
    return path


def _enqueue(settings: Settings) -> Enqueue | None:
    if settings.broker_url is None:
        return None
    # Celery takes half a second to import: only where there is a broker.
    from trifuse.worker.enqueue import celery_enqueue

    return celery_enqueue(celery_app(settings))
