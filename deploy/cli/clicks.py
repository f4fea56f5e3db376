"""`trifuse clicks`: the click log into an index's evidence, a look at it, and its remaking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from redis import Redis
from redis.exceptions import RedisError
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from trifuse.deploy.cli.common import (
    BrokerOption,
    JsonOption,
    OpenSearchOption,
    RedisOption,
    emit,
    err,
    fail,
    index_name,
    out,
)
from trifuse.deploy.config import Settings, celery_app, opensearch_client, redis_client, resolve
from trifuse.indexer.hints import Enqueue
from trifuse.worker.clicks.checks import DUPLICATE
from trifuse.worker.clicks.errors import ClickStoreDown, UnreadableLog
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.reading import AUTO, FORMATS, read_clicks
from trifuse.worker.clicks.rebuild import RebuildReport, rebuild
from trifuse.worker.clicks.report import IntakeReport
from trifuse.worker.clicks.show import clicked_documents, top_queries

clicks = typer.Typer(
    name="clicks",
    help="The click log: load it, look at it, make its counts again.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

FilesArgument = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files (plain or gzip), folders; - is standard input.")
]
IndexOption = Annotated[
    str,
    typer.Option("--index", help="The search index, or alias, that was clicked on.", callback=index_name),
]
FormatOption = Annotated[
    str, typer.Option("--format", metavar="|".join((AUTO, *FORMATS)), help="What the files hold.")
]
QueryOption = Annotated[str | None, typer.Option("--query", help="Show the documents clicked for it.")]
SizeOption = Annotated[int, typer.Option("--size", min=1, max=10_000, help="Rows to show at most.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(clicks)


@clicks.command("load")
def load_command(
    files: FilesArgument,
    index: IndexOption,
    format: FormatOption = AUTO,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
    broker: BrokerOption = None,
) -> None:
    """Count the clicks of a log. Loading it again counts nothing twice.

    [bold]ubi[/bold]: documents of ubi_queries and ubi_events as NDJSON, bare or as a bulk export.

    [bold]medcpt[/bold]: lines of qid, pmid, click, and qid2info.json: both files, or their folder.

    [bold]tripclick[/bold]: the daily logs, or qrels with topics (or lines of id, tab, text).

    [bold]jsonl[/bold]: lines such as

    {"query": "asthma in children", "doc_id": "NCT00000001", "timestamp": "2026-03-01T10:00:00Z"}

    where query and doc_id are needed; timestamp, event_id, query_id, session,
    user, position (from 1), count, kind (click or impression) and shown (the
    ids on the page) may stand. Without an event_id, equal lines are one event.

    Examples:
    [bold]trifuse clicks load ubi_queries.ndjson ubi_events.ndjson.gz --index trials[/bold]
    [bold]zcat clicks.jsonl.gz | trifuse clicks load - --index trials[/bold]
    """
    if format not in (AUTO, *FORMATS):
        raise typer.BadParameter(
            f"{format!r} is no format: expected {AUTO}, {', '.join(FORMATS)}", param_hint="--format"
        )
    for file in files:
        if file != "-" and not Path(file).exists():
            raise typer.BadParameter(f"there is no file or folder {file!r}", param_hint="FILE")
    settings = resolve(opensearch=opensearch, redis=redis, broker=broker)
    store = _store(settings)
    intake = Intake(opensearch_client(settings), store, index, enqueue=_enqueue(settings))
    report, broken = IntakeReport(), None
    with _progress("counting clicks") as show:

        def step(so_far: IntakeReport) -> None:
            nonlocal report
            report = so_far
            show(_counted(report))

        try:
            intake.take(read_clicks(files, format, stdin=sys.stdin.buffer), progress=step)
        except UnreadableLog as error:
            broken = error
    if as_json:
        emit(report.as_dict())
    else:
        _tell(report)
    if broken is not None:
        fail(str(broken))
    if _rejected(report):  # a log that is loaded again has nothing but duplicates
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

    A click counts half after each 90 days.

    Example: [bold]trifuse clicks show --index trials --query "asthma in children"[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis)
    store = _store(settings)
    if query is not None:
        documents = clicked_documents(store, index, query, size)
        if as_json:
            emit({"query": query, "documents": documents})
            return
        missing = f"no clicks of {index} are counted for {query!r}"
        table = Table("document", "decayed clicks", title=query)
        for document in documents:
            table.add_row(document.id, f"{document.clicks:.3g}")
    else:
        queries = top_queries(opensearch_client(settings), store, index, size)
        if as_json:
            emit({"queries": queries})
            return
        missing = (
            f"no clicks are counted for {index}: `trifuse clicks load FILE --index {index}` counts a log's"
        )
        table = Table("query", "clicks", "documents", title=f"queries of {index}")
        for item in queries:
            table.add_row(item.query, f"{item.clicks:,}", f"{item.documents:,}")
    out.print(table if table.row_count else missing, markup=False, soft_wrap=not table.row_count)


@clicks.command("rebuild")
def rebuild_command(
    index: IndexOption,
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
    store = _store(settings)
    with _progress("rebuilding") as show:

        def step(report: RebuildReport) -> None:
            show(f"{report.queries:,} queries, {report.clicks:,} clicks")

        report = rebuild(opensearch_client(settings), store, index, progress=step)
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


def _tell(report: IntakeReport) -> None:
    out.print(
        f"read {report.read:,}: {_counted(report)}; {report.queries:,} new queries, "
        f"{report.pairs:,} new pairs of query and document; kept "
        f"{report.impressions:,} impressions, ignored {report.ignored:,} other records",
        soft_wrap=True,
    )
    for reason, number in report.rejected.most_common():
        if reason != DUPLICATE:
            out.print(f"  {reason}: {number:,}", markup=False)


def _counted(report: IntakeReport) -> str:
    known = report.rejected[DUPLICATE]
    return f"{report.counted:,} counted, {known:,} known already, {_rejected(report):,} rejected"


def _rejected(report: IntakeReport) -> int:
    """Events that can't be used: one that is counted already isn't among them."""
    return report.read - report.counted - report.rejected[DUPLICATE]


def _store(settings: Settings) -> Redis:
    """The click store, once it has answered: a log isn't read for nothing."""
    store = redis_client(settings, timeout_s=30.0)
    try:
        store.ping()
    except (RedisError, OSError) as error:
        raise ClickStoreDown(
            f"the click store doesn't answer ({error}): start Redis, or name another with --redis"
        ) from error
    return store


def _enqueue(settings: Settings) -> Enqueue | None:
    if settings.broker_url is None:
        return None
    from trifuse.worker.enqueue import celery_enqueue

    return celery_enqueue(celery_app(settings))


@contextmanager
def _progress(what: str) -> Iterator[Callable[[str], None]]:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(what)
        yield lambda text: progress.update(task, description=f"{what}: {text}")
