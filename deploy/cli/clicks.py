"""`trifuse clicks`: a click log into an index's evidence, a look at it, its remaking, and out again."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from trifuse.deploy.cli.clicks_forget import forget_command
from trifuse.deploy.cli.clicks_options import (
    MAX_A_DAY,
    MIN_VISITORS,
    IndexOption,
    MaxADayOption,
    MinVisitorsOption,
    SizeOption,
    click_store,
    progress,
    warn_if_evicting,
)
from trifuse.deploy.cli.clicks_positions import positions_command
from trifuse.deploy.cli.clicks_visitors import sessions_command
from trifuse.deploy.cli.common import (
    BrokerOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    fail,
    out,
)
from trifuse.deploy.config import Settings, celery_app, opensearch_client, resolve
from trifuse.indexer.hints import Enqueue
from trifuse.worker.clicks.checks import DUPLICATE, NO_FAULTS
from trifuse.worker.clicks.errors import UnreadableLog
from trifuse.worker.clicks.forgotten import FORGOTTEN
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.reading import AUTO, FORMATS, read_log
from trifuse.worker.clicks.rebuild import RebuildReport, rebuild
from trifuse.worker.clicks.rejections import Rejections, rejections
from trifuse.worker.clicks.report import IntakeReport
from trifuse.worker.clicks.show import clicked_documents, top_queries

clicks = typer.Typer(
    name="clicks",
    help="The click log: load it, look at it, make its counts again, forget parts of it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files (plain or gzip), folders; - is standard input.")
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="|".join((AUTO, *FORMATS)), help="What the files hold.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        dir_okay=False,
        help="Write every rejected record to this file, a line each: place, reason, id, and the record.",
    ),
]
QueryOption = Annotated[str | None, typer.Option("--query", help="Show the documents clicked for it.")]

_KNOWN = NO_FAULTS | {FORGOTTEN}
"""Reasons not to count an event that is as it should be: a log that is loaded again has many."""


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(clicks)


@clicks.command("load")
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
    ids on the page) may stand. Without an event_id, equal lines are one event.

    Where records were rejected, the first place of each reason is said.

    Examples:
    [bold]trifuse clicks load ubi_queries.ndjson ubi_events.ndjson.gz --index trials[/bold]
    [bold]trifuse clicks load logs/ --index trials --report rejected.ndjson[/bold]
    [bold]zcat clicks.jsonl.gz | trifuse clicks load - --index trials[/bold]
    """
    if format not in (AUTO, *FORMATS):
        raise typer.BadParameter(
            f"{format!r} is no format: expected {AUTO}, {', '.join(FORMATS)}", param_hint="--format"
        )
    for file in files:
        if file != "-" and not Path(file).exists():
            raise typer.BadParameter(f"there is no file or folder {file!r}", param_hint="FILE")
        if report is not None and report.exists() and file != "-" and report.samefile(file):
            raise typer.BadParameter(f"{file!r} is to be read: name another file", param_hint="--report")
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
    result, broken = IntakeReport(), None
    with rejections(report) as rejected, progress("counting clicks") as show:

        def step(so_far: IntakeReport) -> None:
            nonlocal result
            result = so_far
            show(_counted(result))

        try:
            events = read_log(files, format, stdin=sys.stdin.buffer)
            intake.take(events, progress=step, on_reject=rejected)
        except UnreadableLog as error:
            broken = error
    if as_json:
        emit({**result.as_dict(), "rejected_first": rejected.first})
    else:
        _tell(result, rejected, report)
    if broken is not None:
        fail(str(broken))
    if _rejected(result):
        raise typer.Exit(1)


@clicks.command("show")
def show_command(
    index: IndexOption,
    query: QueryOption = None,
    size: SizeOption = 20,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
) -> None:
    """Show the most clicked queries, or the documents clicked for one query, by decayed clicks.

    A click counts half after each 90 days. Only queries that enough visitors
    made are listed; the documents of one that is named are shown in any case,
    beside the clicks that were to be expected where they stood on the page.

    Examples:
    [bold]trifuse clicks show --index trials[/bold]
    [bold]trifuse clicks show --index trials --query "asthma in children"[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis)
    store = click_store(settings)
    if query is not None:
        documents = clicked_documents(store, index, query, size)
        if as_json:
            emit({"query": query, "documents": documents})
            return
        missing = f"no clicks of {index} are counted for {query!r}"
        table = Table("document", "decayed clicks", "expected", title=query)
        for document in documents:
            table.add_row(document.id, f"{document.clicks:.3g}", f"{document.expected:.3g}")
    else:
        queries = top_queries(opensearch_client(settings), store, index, size)
        if as_json:
            emit({"queries": queries})
            return
        missing = (
            f"no query of {index} was clicked for by enough visitors yet: `trifuse clicks load FILE --index "
            f"{index}` counts a log's; with --min-visitors 1 every query is used from its first click on"
        )
        table = Table("query", "clicks", "documents", title=f"queries of {index}")
        for item in queries:
            table.add_row(item.query, f"{item.clicks:,}", f"{item.documents:,}")
    out.print(table if table.row_count else missing, markup=False, soft_wrap=not table.row_count)


@clicks.command("rebuild")
def rebuild_command(
    index: IndexOption,
    min_visitors: MinVisitorsOption = MIN_VISITORS,
    max_a_day: MaxADayOption = MAX_A_DAY,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
) -> None:
    """Make the counts in Redis and the past queries again from the event index.

    Searches and live clicks go on meanwhile: a query has its old counts until
    it has its new ones. Past queries whose vectors are of another encoder than
    the index's then wait for [bold]trifuse sync[/bold].

    Example: [bold]trifuse clicks rebuild --index trials[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis)
    store = click_store(settings)
    warn_if_evicting(store)
    with progress("rebuilding") as show:

        def step(report: RebuildReport) -> None:
            show(f"{report.queries:,} queries, {report.clicks:,} clicks")

        report = rebuild(
            opensearch_client(settings),
            store,
            index,
            min_visitors=min_visitors,
            max_a_day=max_a_day,
            progress=step,
        )
    if as_json:
        emit(msgspec.structs.asdict(report))
    else:
        out.print(
            f"{report.queries:,} queries, {report.pairs:,} pairs of query and document, {report.clicks:,} "
            f"clicks; {report.removed:,} past queries removed",
            soft_wrap=True,
        )
    if report.unsettled:
        fail(
            f"{report.unsettled} queries are clicked for faster than they can be read: they keep the counts "
            "they had; run it again when there is less traffic"
        )


clicks.command("sessions")(sessions_command)
clicks.command("positions")(positions_command)
clicks.command("forget")(forget_command)


def _tell(report: IntakeReport, rejected: Rejections, file: Path | None) -> None:
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
        where = f"all are in {file}" if file else "--report FILE writes them all"
        out.print(where, markup=False, soft_wrap=True)


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
