"""What `trifuse load` says: before it starts, while it runs, and at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NoReturn

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from trifuse.deploy.cli.bars import Bars
from trifuse.deploy.cli.common import err, fail, out
from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.report import LoadReport
from trifuse.indexer.sentences.load import count_sentences

_SAMPLE = 2000
_SENTENCES_PER_S = {"int8": 64, "fp32": 39}  # of 64 tokens, the default encoder, measured on two cores
_SHOWN = 5


def estimated(
    items: Iterable[Record | Rejection], limit: int | None, encoder: EncoderSpace
) -> Iterator[Record | Rejection]:
    """The same items, after saying how many sentences they have and how long their vectors will take."""
    stream = iter(items)
    sample = list(islice(stream, min(_SAMPLE, limit or _SAMPLE)))
    each = count_sentences(sample) / max(1, len(sample))
    if len(sample) < _SAMPLE:
        records, scope = len(sample), f"{len(sample)} records"
    else:
        records, scope = (limit, f"{limit:,} records") if limit else (1000, "each 1,000 records")
    if not each:
        return chain(sample, stream)
    seconds = each * records / _SENTENCES_PER_S.get(encoder.precision, min(_SENTENCES_PER_S.values()))
    err.print(
        f"{scope} have about {each * records:,.0f} sentences ({each:.0f} each): their vectors will take "
        f"some {_duration(seconds)} on a worker with two cores",
        soft_wrap=True,
    )
    return chain(sample, stream)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} seconds"
    return f"{round(seconds / 60)} minutes" if seconds < 90 * 60 else f"{seconds / 3600:.1f} hours"


def progress_bar(limit: int | None) -> Bars:
    """Records so far on stderr; a bar where it is known how many will come."""
    done = [BarColumn(), MofNCompleteColumn()] if limit else [TextColumn("{task.completed:,} records")]
    rejected = TextColumn("{task.fields[rejected]} rejected")
    columns = (SpinnerColumn(), TextColumn("{task.description}"), *done, rejected, TimeElapsedColumn())
    return Bars(*columns)


def tell(report: LoadReport) -> None:
    """The report, for people."""
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


def show_rejected(rejected: Sequence[Rejection]) -> str:
    """Print the first rejected records to stderr; what to add to a sentence where these aren't all."""
    for rejection in rejected[:_SHOWN]:
        place = rejection.source if rejection.line is None else f"{rejection.source}:{rejection.line}"
        err.print(
            f"rejected {place} {rejection.id or '(no id)'}: {rejection.reason}", markup=False, soft_wrap=True
        )
    return f" (the first {_SHOWN} above)" if len(rejected) > _SHOWN else ""


def fail_rejected(report: LoadReport) -> NoReturn:
    """End the command with the first rejected records and the file that has all of them."""
    more = show_rejected(report.rejected)
    count = len(report.rejected)
    fail(f"{count:,} of {report.read:,} records were rejected{more}: all are in {report.dead_letter}")
