"""`trifuse load`: trials from files into an index."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from types import FrameType
from typing import Annotated

import msgspec
import typer
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from trifuse.deploy.cli.common import (
    BrokerOption,
    EncoderOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    out,
)
from trifuse.deploy.config import Settings, opensearch_client, resolve
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.load import load
from trifuse.indexer.readers import Record, Rejection, read_trials
from trifuse.indexer.report import LoadReport
from trifuse.indexer.sentence_load import sentences_per_trial
from trifuse.indexer.trial import TRIAL_TEMPLATE

_SAMPLE = 2000
_SENTENCES_PER_S = {"int8": 64, "fp32": 39}  # of 64 tokens, the default encoder, measured on two cores
_SHOWN = 5
_INTERRUPTED = 130

PathsArgument = Annotated[
    list[str], typer.Argument(metavar="PATH...", help="Files, folders or zips; - is standard input.")
]
IndexOption = Annotated[str, typer.Option("--index", help="The index; made if it is missing.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Stop after so many records.")]
SentencesOption = Annotated[
    bool, typer.Option("--sentences", help="Also write each sentence into an index of its own.")
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write the report, as JSON, to this file.", dir_okay=False)
]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load")(load_command)


def load_command(
    paths: PathsArgument,
    index: IndexOption,
    limit: LimitOption = None,
    sentences: SentencesOption = False,
    report: ReportOption = None,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
    encoder: EncoderOption = None,
) -> None:
    """Load trials: searchable by BM25 at once, by vectors as the workers catch up.

    Reads the registry's API v2 JSON, legacy XML, CSV exports and flat JSONL, plain, gzip'd or zipped.

    Records that the index has already are left alone: the same command may be run again at any time.

    Example: [bold]trifuse load studies.json --index trials[/bold]
    """
    for path in paths:
        if path != "-" and not Path(path).exists():
            raise typer.BadParameter(f"there is no file or folder {path!r}", param_hint="PATH")
    dead_letter = _dead_letter(index, report)
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker, encoder=encoder)
    space = Space(describe_encoder(settings.encoder), TRIAL_TEMPLATE)
    items: Iterable[Record | Rejection] = read_trials(paths, stdin=sys.stdin.buffer)
    if sentences:
        items = _estimated(items, limit, space.encoder)
    latest = LoadReport(index=index)
    with _progress(limit) as progress, _terminable():
        task = progress.add_task("loading", total=limit, rejected=0)

        def show(so_far: LoadReport) -> None:
            nonlocal latest
            latest = so_far
            progress.update(task, completed=so_far.read, rejected=len(so_far.rejected))

        try:
            latest = load(
                opensearch_client(settings),
                items,
                index,
                space=space,
                enqueue=_enqueue(settings),
                dead_letter=dead_letter,
                progress=show,
                sentences=sentences,
                limit=limit,
            )
            interrupted = False
        except KeyboardInterrupt:
            interrupted = True
        finally:
            if report is not None:
                report.write_bytes(msgspec.json.format(msgspec.json.encode(latest), indent=2) + b"\n")
    if as_json:
        emit(latest)
    else:
        _tell(latest)
    if interrupted:
        fail("interrupted: what was written stays, the same command goes on from there", _INTERRUPTED)
    if latest.rejected:
        _fail_rejected(latest)


def _dead_letter(index: str, report: Path | None) -> Path:
    """Where rejected records go: beside the report, else into the current folder."""
    path = report.with_suffix(".rejected.ndjson") if report else Path(f"{index}.rejected.ndjson")
    if not os.access(path.parent, os.W_OK):
        raise typer.BadParameter(
            f"can't write into {str(path.parent)!r}, where rejected records would go: name a file in a "
            "folder that can be written to",
            param_hint="--report",
        )
    return path


def _enqueue(settings: Settings) -> Enqueue | None:
    if settings.broker_url is None:
        return None
    # Celery takes half a second to import: only where there is a broker.
    from trifuse.worker.app import create_app
    from trifuse.worker.enqueue import celery_enqueue
    from trifuse.worker.settings import Settings as WorkerSettings

    return celery_enqueue(create_app(WorkerSettings(broker_url=settings.broker_url)))


def _estimated(
    items: Iterable[Record | Rejection], limit: int | None, encoder: EncoderSpace
) -> Iterator[Record | Rejection]:
    """The same items, after saying how many sentences they have and how long their vectors will take."""
    stream = iter(items)
    sample = list(islice(stream, min(_SAMPLE, limit or _SAMPLE)))
    each = sentences_per_trial(sample)
    if len(sample) < _SAMPLE:
        trials, scope = len(sample), f"{len(sample)} records"
    else:
        trials, scope = (limit, f"{limit:,} records") if limit else (1000, "each 1,000 records")
    seconds = each * trials / _SENTENCES_PER_S.get(encoder.precision, min(_SENTENCES_PER_S.values()))
    err.print(
        f"{scope} have about {each * trials:,.0f} sentences ({each:.0f} a trial): their vectors will take "
        f"some {_duration(seconds)} on a worker with two cores",
        soft_wrap=True,
    )
    return chain(sample, stream)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.1f} hours"


def _progress(limit: int | None) -> Progress:
    done = [BarColumn(), MofNCompleteColumn()] if limit else [TextColumn("{task.completed:,} records")]
    rejected = TextColumn("{task.fields[rejected]} rejected")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *done, rejected, TimeElapsedColumn())
    return Progress(*columns, console=err)


@contextmanager
def _terminable() -> Iterator[None]:
    """SIGTERM ends the load as Ctrl-C does: with the index's settings put back."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _tell(report: LoadReport) -> None:
    out.print(
        f"read {report.read:,} = indexed {report.indexed:,} + unchanged {report.unchanged:,} + rejected "
        f"{len(report.rejected):,}"
    )
    if report.sentences is not None:
        counts = report.sentences
        out.print(
            f"sentences: indexed {counts.indexed:,}, unchanged {counts.unchanged:,}, "
            f"deleted {counts.deleted:,}"
        )
    notes = {
        "records whose id stood in this load before (the last wins)": report.duplicates,
        "records whose embedded text was cut": report.truncated,
    }
    for what, count in notes.items():
        if count:
            out.print(f"{what}: {count:,}")
    for path, count in sorted(report.unknown_fields.items()):
        out.print(f"unknown field {path}: in {count:,} records", markup=False)
    for field in report.newly_empty_fields:
        out.print(f"field {field}: filled in the index before, and in no record of this load", markup=False)
    if report.hints_error is not None:
        err.print(f"workers were not told of all records: {report.hints_error}", style="yellow", markup=False)
    elif report.indexed:
        out.print(
            f"vectors follow from the workers: `trifuse sync {report.index} --wait` waits", markup=False
        )


def _fail_rejected(report: LoadReport) -> None:
    for rejection in report.rejected[:_SHOWN]:
        place = rejection.source if rejection.line is None else f"{rejection.source}:{rejection.line}"
        err.print(
            f"rejected {place} {rejection.id or '(no id)'}: {rejection.reason}", markup=False, soft_wrap=True
        )
    count = len(report.rejected)
    more = f" (the first {_SHOWN} above)" if count > _SHOWN else ""
    fail(f"{count:,} of {report.read:,} records were rejected{more}: all are in {report.dead_letter}")
