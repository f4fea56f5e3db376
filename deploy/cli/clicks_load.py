"""`trifuse clicks load`: a click log's files into an index's evidence."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from trifuse.deploy.cli.clicks_options import (
    MAX_A_DAY,
    MIN_VISITORS,
    IndexOption,
    MaxADayOption,
    MinVisitorsOption,
    click_store,
    progress,
    warn_if_evicting,
)
from trifuse.deploy.cli.common import (
    BrokerOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    out,
)
from trifuse.deploy.cli.report_file import (
    ReportOption,
    rejected_beside,
    require_apart,
    require_writable,
    write_report,
)
from trifuse.deploy.config import Settings, celery_app, opensearch_client, resolve
from trifuse.indexer.hints import Enqueue
from trifuse.ranker.evaluation.printing import as_typed
from trifuse.worker.clicks.checks import DUPLICATE, NO_FAULTS, REPEATED
from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.forgotten import FORGOTTEN, forgotten_index
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.notes import Notes
from trifuse.worker.clicks.reading import AUTO, EXPECTED, FORMATS, read_log
from trifuse.worker.clicks.rejections import Rejections
from trifuse.worker.clicks.report import IntakeReport

FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files (plain or gzip), folders; - is standard input.")
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="|".join((AUTO, *FORMATS)), help="What the files hold.")
]
_NOTE: dict[str, Any] = {"style": "yellow", "markup": False, "soft_wrap": True}
_SHOWN = 10
"""So many files are named."""

_KNOWN = NO_FAULTS | {FORGOTTEN}
"""Reasons not to count an event that is as it should be: a log that is loaded again has many."""


def load_command(
    files: FilesArgument,
    index: IndexOption,
    format: FormatOption = AUTO,
    report: ReportOption = None,
    min_visitors: MinVisitorsOption = MIN_VISITORS,
    max_a_day: MaxADayOption = MAX_A_DAY,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
) -> None:
    """Count the clicks of a log. Loading it again counts nothing twice.

    [bold]ubi[/bold]: documents of ubi_queries and ubi_events as NDJSON, bare or as a bulk export.

    [bold]medcpt[/bold]: lines of qid, pmid, click, and qid2info.json: both files, or their folder.

    [bold]tripclick[/bold]: the daily logs, or qrels with their topics, as TREC or TSV.

    [bold]jsonl[/bold]: lines such as

    {"query": "asthma in children", "doc_id": "NCT00000001", "timestamp": "2026-03-01T10:00:00Z"}

    where query and doc_id are needed; timestamp, event_id, query_id, session,
    user, position (from 1), count, kind (click or impression) and shown (the
    ids on the page) may stand. An impression needs shown, and no doc_id.
    Without an event_id, equal lines are one event.

    One command takes one format: the first that it recognises, or --format.
    Files that hold nothing of it are named, and so are fields of jsonl that
    mean nothing. Of records that were rejected, the first of each reason is;
    with --report FILE all of them are written, in the file that its
    dead_letter names.

    Examples:
    [bold]trifuse clicks load ubi_queries.ndjson ubi_events.ndjson.gz --index trials[/bold]
    [bold]trifuse clicks load logs/ --index trials --report report.json[/bold]
    [bold]zcat clicks.jsonl.gz | trifuse clicks load - --index trials[/bold]
    """
    if format not in (AUTO, *FORMATS):
        raise typer.BadParameter(
            f"{format!r} is no format: expected {AUTO}, {', '.join(FORMATS)}", param_hint="--format"
        )
    for file in files:
        if file != "-" and not Path(file).exists():
            raise typer.BadParameter(f"there is no file or folder {file!r}", param_hint="FILE")
    if report is not None:
        require_writable(report)
        require_apart(report, files)
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker)
    store = click_store(settings)
    warn_if_evicting(store)
    intake = Intake(
        opensearch_client(settings),
        store,
        index,
        min_visitors=min_visitors,
        max_a_day=max_a_day,
        enqueue=_enqueue(settings),
    )
    result, notes, broken = IntakeReport(), Notes(), None
    with Rejections(rejected_beside(report) if report else None) as rejected:
        try:
            with progress("counting clicks") as show:

                def step(so_far: IntakeReport) -> None:
                    nonlocal result
                    result = so_far
                    show(_counted(result))

                events = read_log(files, format, stdin=sys.stdin.buffer, notes=notes)
                intake.take(events, progress=step, on_reject=rejected)
        except UnreadableLog as error:
            broken = error
        finally:
            outcome = _outcome(result, rejected, notes)
            if report is not None:
                write_report(report, outcome)
    if as_json:
        emit(outcome)
    else:
        _tell(result, rejected)
        for field, number in notes.unknown_fields.most_common():
            out.print(_fault_of(field, number), soft_wrap=True)
    _tell_passed_over(notes)
    _tell_marked(result, index)
    if broken is not None:
        fail(str(broken))
    if notes.passed_over and not notes.holding and not result.read:
        fail(f"nothing was read: there is nothing of the format {notes.format}. {EXPECTED}")
    if _rejected(result):
        raise typer.Exit(1)


def _outcome(report: IntakeReport, rejected: Rejections, notes: Notes) -> dict[str, Any]:
    """What is shown as JSON."""
    return {
        **report.as_dict(),
        "rejected_first": rejected.first,
        "dead_letter": rejected.dead_letter,
        "unknown_fields": dict(notes.unknown_fields),
    }


def _tell(report: IntakeReport, rejected: Rejections) -> None:
    out.print(
        f"read {report.read:,}: {_counted(report)}; {report.queries:,} new queries, "
        f"{report.pairs:,} new pairs of query and document; kept "
        f"{report.impressions:,} impressions, ignored {report.ignored:,} other records",
        soft_wrap=True,
    )
    for reason, number in report.rejected.most_common():
        if reason == DUPLICATE:
            continue
        first = f", first at {rejected.first[reason]}" if reason in rejected.first else ""
        out.print(f"  {reason}: {number:,}{first}", markup=False, soft_wrap=True)
    if rejected.first:
        file = rejected.dead_letter
        where = f"all are in {file}" if file else "--report FILE writes them all into a file beside it"
        out.print(where, markup=False, soft_wrap=True)


def _fault_of(field: str, number: int) -> Text:
    where = f"in {number:,} records"
    if field == "position":
        return Text(f"position that is no whole number from 1: {where}")
    return Text("unknown field ").append_text(as_typed(field)).append(f": {where}")


def _tell_passed_over(notes: Notes) -> None:
    """Name the files that gave nothing."""
    if not notes.passed_over:
        return
    names = ", ".join(notes.passed_over[:_SHOWN])
    more = len(notes.passed_over) - _SHOWN
    err.print(
        f"passed over: nothing of the format {notes.format} is in {names}"
        + (f" and {more:,} more" if more > 0 else ""),
        **_NOTE,
    )


def _tell_marked(report: IntakeReport, index: str) -> None:
    """Say what brings events back that were forgotten, where nothing of a log counts."""
    if report.counted or _rejected(report):
        return
    if FORGOTTEN in report.rejected:
        err.print(
            f"{report.rejected[FORGOTTEN]:,} events were forgotten, and stay out. To take them again on "
            f"purpose, delete the index {forgotten_index(index)}, load them, then: "
            f"trifuse clicks rebuild --index {index}",
            **_NOTE,
        )
    elif REPEATED in report.rejected:
        err.print(
            "nothing was counted: these visitors' clicks of those days were before. Where those were "
            "forgotten since, their marks stand for 8 days; what the log holds now is counted by: "
            f"trifuse clicks rebuild --index {index}",
            **_NOTE,
        )


def _counted(report: IntakeReport) -> str:
    known = sum(number for reason, number in report.rejected.items() if reason in _KNOWN)
    return (
        f"{report.counted:,} counted, {known:,} known already or over a visitor's cap, "
        f"{_rejected(report):,} rejected"
    )


def _rejected(report: IntakeReport) -> int:
    """Events that can't be used."""
    return sum(number for reason, number in report.rejected.items() if reason not in _KNOWN)


def _enqueue(settings: Settings) -> Enqueue | None:
    if settings.broker_url is None:
        return None
    from trifuse.worker.enqueue import celery_enqueue

    return celery_enqueue(celery_app(settings))
