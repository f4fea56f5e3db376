"""`trifuse clicks sessions`: whose clicks move the rankings."""

from __future__ import annotations

from rich.table import Table

from trifuse.deploy.cli.clicks_options import MAX_A_DAY, IndexOption, MaxADayOption, SizeOption
from trifuse.deploy.cli.common import JsonOption, OpenSearchOption, emit, err, out
from trifuse.deploy.config import opensearch_client, require_opensearch, resolve
from trifuse.ranker.evaluation.printing import as_typed
from trifuse.worker.clicks.influence import Influence, influence


def sessions_command(
    index: IndexOption,
    size: SizeOption = 20,
    max_a_day: MaxADayOption = MAX_A_DAY,
    as_json: JsonOption = False,
    opensearch: OpenSearchOption = None,
) -> None:
    """Show the visitors whose clicks count most: users, or sessions where no user is known.

    Of one visitor a click on a document counts once a day for a query, and so
    many in a day at most (--max-a-day); the table says how many of each
    visitor's clicks did, and on how many documents most of the clicks that
    count are one visitor's alone.

    Example: [bold]trifuse clicks sessions --index trials --size 10[/bold]
    """
    settings = resolve(opensearch=opensearch)
    client = require_opensearch(opensearch_client(settings), settings)
    with err.status("reading the click log"):
        found = influence(client, index, size=size, max_a_day=max_a_day)
    if as_json:
        emit(found)
    else:
        _tell(found, index, max_a_day)


def _tell(found: Influence, index: str, max_a_day: int) -> None:
    table = Table(
        "visitor",
        "counted",
        "share",
        "clicks",
        "repeated",
        "over cap",
        "queries",
        "documents",
        "mostly theirs",
        title=f"{found.visitors_in_all:,} visitors of {index}",
        caption=f"over cap: more than {max_a_day} a day; mostly theirs: documents that more than half of the "
        "counted clicks on are this visitor's",
    )
    for visitor in found.visitors:
        numbers = (visitor.clicks, visitor.repeated, visitor.over_cap, visitor.queries, visitor.documents)
        table.add_row(
            as_typed(f"{visitor.kind} {visitor.visitor}"),
            f"{visitor.counted:,}",
            f"{100 * visitor.share:.2f} %",
            *(f"{number:,}" for number in numbers),
            f"{visitor.majority:,}",
        )
    out.print(table)
    if found.unknown:
        out.print(
            f"{found.unknown:,} of the {found.counted:,} counted clicks name no visitor: nothing bounds what "
            "one person does with them. Log a session or a user.",
            soft_wrap=True,
        )
    if found.visitors:
        first = found.visitors[0]
        out.print(
            "Where one visitor gives most of the clicks on many documents, or is far over the cap, look at "
            "what it did. To take a visitor's clicks out of the log and of the rankings: "
            f"trifuse clicks forget --index {index} --{first.kind} ID",
            soft_wrap=True,
            markup=False,
        )
