"""Why queries moved, as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.table import Table

from trifuse.ranker.evaluation.explaining import Explanation, Placed
from trifuse.ranker.evaluation.printing import as_typed


def explanation_tables(explanations: Iterable[Explanation]) -> Iterator[Table]:
    """A table a query; in it a row a document, with its rank by both and what each leg gave it."""
    for each in explanations:
        table = Table(
            title=as_typed(
                f"{each.query} {each.text!r}: {each.measure} {each.against_value:.3f} by {each.against}, "
                f"{each.value:.3f} by {each.profile}"
            ),
            title_justify="left",
            caption_justify="left",
        )
        table.add_column("document", overflow="fold")
        table.add_column("grade", justify="right", no_wrap=True)
        table.add_column(as_typed(each.against), overflow="fold")
        table.add_column(as_typed(each.profile), overflow="fold")
        for row in each.documents:
            grade = "-" if row.grade is None else str(row.grade)
            table.add_row(as_typed(row.document), grade, _placed(row.against), _placed(row.placed))
        yield table


def _placed(placed: Placed | None) -> str:
    """`2: lexical #4, dense #1`, the ranks that the legs gave it; `-` where it isn't ranked."""
    if placed is None:
        return "-"
    given = [
        leg if value.get("rank") is None else f"{leg} #{value['rank']}"
        for leg, value in (placed.legs or {}).items()
        if value is not None
    ]
    return f"{placed.rank}: {', '.join(given)}" if given else str(placed.rank)
