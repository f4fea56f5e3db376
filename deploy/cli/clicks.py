"""`trifuse clicks`: a click log into an index's evidence, a look at it, its remaking, and out again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from trifuse.deploy.cli.clicks_forget import forget_command
from trifuse.deploy.cli.clicks_judgements import judgements_command
from trifuse.deploy.cli.clicks_load import load_command
from trifuse.deploy.cli.clicks_options import (
    MAX_A_DAY,
    MIN_VISITORS,
    IndexOption,
    MaxADayOption,
    MinVisitorsOption,
    SizeOption,
    click_store,
    progress,
    readable,
    warn_if_evicting,
)
from trifuse.deploy.cli.clicks_positions import positions_command
from trifuse.deploy.cli.clicks_visitors import sessions_command
from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, RedisOption, emit, fail, out
from trifuse.deploy.config import opensearch_client, resolve
from trifuse.ranker.evaluation.printing import as_typed
from trifuse.worker.clicks.indexes import encoder_of
from trifuse.worker.clicks.rebuild import RebuildReport, rebuild
from trifuse.worker.clicks.show import clicked_documents, top_queries

clicks = typer.Typer(
    name="clicks",
    help="The click log: load it, look at it, judge by it, make its counts again, forget parts of it.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

QueryOption = Annotated[
    str | None, typer.Option("--query", callback=readable, help="Show the documents clicked for it.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(clicks)


def show_command(
    index: IndexOption,
    query: QueryOption = None,
    size: SizeOption = 20,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
) -> None:
    """Show the most clicked queries, or the documents clicked for one query.

    A document's clicks fade: each counts half after 90 days. Only queries that
    enough visitors clicked for are listed; the documents of one that is named are
    shown in any case, beside the clicks that were to be expected where they stood.

    Examples:
    [bold]trifuse clicks show --index trials[/bold]
    [bold]trifuse clicks show --index trials --query "asthma in children"[/bold]
    """
    settings = resolve(opensearch=opensearch, redis=redis)
    store, client = click_store(settings), opensearch_client(settings)
    encoder_of(client, index)  # an index that isn't there is said, and isn't one without clicks
    if query is not None:
        documents = clicked_documents(store, index, query, size)
        if as_json:
            emit({"query": query, "documents": documents})
            return
        missing = f"no clicks of {index} are counted for {query!r}"
        table = Table("document", "decayed clicks", "expected", title=as_typed(query))
        for document in documents:
            table.add_row(as_typed(document.id), f"{document.clicks:.3g}", f"{document.expected:.3g}")
    else:
        queries = top_queries(client, store, index, size)
        if as_json:
            emit({"queries": queries})
            return
        missing = (
            f"no query of {index} was clicked for by enough visitors yet: `trifuse clicks load FILE --index "
            f"{index}` counts a log's; with --min-visitors 1 every query is used from its first click on"
        )
        table = Table("query", "clicks", "documents", title=f"queries of {index}")
        for item in queries:
            table.add_row(as_typed(item.query), f"{item.clicks:,}", f"{item.documents:,}")
    out.print(table if table.row_count else missing, markup=False, soft_wrap=not table.row_count)


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


_COMMANDS: dict[str, Callable[..., None]] = {
    "load": load_command,
    "show": show_command,
    "sessions": sessions_command,
    "positions": positions_command,
    "judgements": judgements_command,
    "rebuild": rebuild_command,
    "forget": forget_command,
}
for _name, _command in _COMMANDS.items():
    clicks.command(_name)(_command)
