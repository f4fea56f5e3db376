"""`trifuse clicks forget`: events out of the log, and out of all that was made from them."""

from __future__ import annotations

from typing import Annotated

import typer

from trifuse.deploy.cli.clicks_options import (
    MAX_A_DAY,
    MIN_VISITORS,
    IndexOption,
    MaxADayOption,
    MinVisitorsOption,
    click_store,
    progress,
    readable,
)
from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, RedisOption, emit, out
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.worker.clicks.forget import ForgetReport, forget, preview
from trifuse.worker.clicks.forgotten import is_unfinished
from trifuse.worker.clicks.selection import Selection
from trifuse.worker.clicks.times import parse_time

QueriesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--query",
        metavar="TEXT",
        callback=readable,
        help="Searches for this, in each spelling of the same query.",
    ),
]
SessionsOption = Annotated[
    list[str] | None,
    typer.Option("--session", metavar="ID", callback=readable, help="What was done in this session."),
]
UsersOption = Annotated[
    list[str] | None,
    typer.Option("--user", metavar="ID", callback=readable, help="What this user did."),
]
BeforeOption = Annotated[
    str | None,
    typer.Option("--before", metavar="DATE", help="What is older than 2025-01-31, or 2025-01-31T12:00."),
]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say how many events it would be.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def forget_command(
    index: IndexOption,
    query: QueriesOption = None,
    session: SessionsOption = None,
    user: UsersOption = None,
    before: BeforeOption = None,
    dry_run: DryRunOption = False,
    yes: YesOption = False,
    min_visitors: MinVisitorsOption = MIN_VISITORS,
    max_a_day: MaxADayOption = MAX_A_DAY,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
    redis: RedisOption = None,
) -> None:
    """Delete events of the click log, and count anew what they touched.

    Afterwards neither Redis nor the past queries hold anything of them; a past
    query with nothing left is gone. Options of several kinds must all fit
    (--session S --before D: what is older, of this session), of several of one
    kind any one. The page that a visitor's search was shown goes with it.

    The same events aren't taken again when a log is loaded a second time: a
    hash of each one's id is kept. It can be interrupted and run again.

    Examples:
    [bold]trifuse clicks forget --index trials --session 4f1c --session 9a20[/bold]
    [bold]trifuse clicks forget --index trials --query "jane doe asthma" --dry-run[/bold]
    [bold]trifuse clicks forget --index trials --before 2025-01-01 --yes[/bold]
    """
    selection = Selection(
        queries=tuple(query or ()),
        sessions=tuple(session or ()),
        users=tuple(user or ()),
        before=_date(before),
    )
    if selection.is_empty:
        raise typer.BadParameter(
            "say what to forget: --query, --session, --user or --before", param_hint="--query"
        )
    settings = resolve(opensearch=opensearch, redis=redis)
    client = require_opensearch(opensearch_client(settings), settings)
    if dry_run or not yes:
        found = preview(client, index, selection)
        if dry_run or not (found.events or is_unfinished(client, index)):
            _tell(found, as_json, "would be deleted")
            return
        what = f"Delete {found.events:,} events of {found.queries:,} queries from the click log of {index}?"
        if not found.events:
            what = "No event fits, but an earlier run was interrupted: go on where it stopped?"
        typer.confirm(what, abort=True, err=True)
    with progress("forgetting") as show:
        report = forget(
            client,
            click_store(settings),
            index,
            selection,
            min_visitors=min_visitors,
            max_a_day=max_a_day,
            progress=lambda so_far: show(f"{so_far.events:,} events, {so_far.queries:,} queries"),
        )
    _tell(report, as_json, "deleted")


def _date(value: str | None) -> float | None:
    try:
        return parse_time(value)
    except ValueError as error:
        raise typer.BadParameter(
            f"{value!r} is no date: write it as 2025-01-31 or 2025-01-31T12:00:00Z", param_hint="--before"
        ) from error


def _tell(report: ForgetReport, as_json: bool, what: str) -> None:
    if as_json:
        emit(report)
        return
    if not report.events and not report.queries:
        out.print("no event of the click log fits: there is nothing to delete")
        return
    out.print(f"{report.events:,} events {what}, of {report.queries:,} queries", soft_wrap=True)
    if report.rebuilt or report.removed:
        out.print(
            f"{report.rebuilt:,} queries are counted anew; {report.removed:,} had nothing left, and are gone",
            soft_wrap=True,
        )
