"""An evaluation as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.ranker.evaluation.comparison import Comparison
from trifuse.ranker.evaluation.printing import as_typed, p_value
from trifuse.ranker.evaluation.report import Evaluation
from trifuse.ranker.evaluation.runs import Ranked


def tables(evaluation: Evaluation) -> Group:
    """Means, intervals and tests; what moved most; what was left out."""
    return Group(evaluation_table(evaluation), *moved_tables(evaluation), *map(Text, notes(evaluation)))


def evaluation_table(evaluation: Evaluation, title: str | None = None) -> Table:
    """A section a measure, and in it a row a profile: mean, interval, and what it was compared with."""
    title = title or f"{evaluation.queries} queries"
    others = {found.against for compared in evaluation.tests.values() for found in compared.values()}
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("profile", overflow="fold")
    for column in ("mean", "95 %"):
        table.add_column(column, justify="right", no_wrap=True)
    if others:
        for column in ("difference", "p\nrandom.", "p t", "won/lost"):
            table.add_column(column, justify="right", no_wrap=True)
        from_what = f"from {next(iter(others))}" if len(others) == 1 else "from the profile in brackets"
        table.caption = as_typed(
            f"difference {from_what}; p of paired tests, two-sided, adjusted (Holm) for the comparisons in a "
            "measure"
        )
    for measure in next(iter(evaluation.ci95.values())):
        table.add_row(Text(measure, "bold"))
        for profile, intervals in evaluation.ci95.items():
            low, high = intervals[measure]
            found = evaluation.tests.get(profile, {}).get(measure)
            name = f"{profile} [{found.against}]" if found and len(others) > 1 else profile
            cells = (f"{evaluation.mean(profile, measure):.4f}", f"{low:.3f}-{high:.3f}")
            table.add_row(as_typed(name), *cells, *(_compared(found) if found else ()))
        table.add_section()
    return table


def segment_tables(segments: Mapping[str, Evaluation]) -> Iterator[Table]:
    """A table for each segment of the queries."""
    for name, each in segments.items():
        table = evaluation_table(each, title=f"{name}: {each.queries} queries")
        if table.caption is not None:
            table.caption = Text.assemble(as_typed(str(table.caption)), " and segments")
        yield table


def moved_tables(evaluation: Evaluation) -> Iterator[Table]:
    """For each comparison, by the first measure: the queries that gain most, and those that lose most."""
    for profile, compared in evaluation.tests.items():
        measure, found = next(iter(compared.items()))
        if not found.gained and not found.lost:
            continue
        table = Table(title=as_typed(f"{measure}: what moves most from {found.against} to {profile}"))
        table.title_justify = "left"
        table.add_column("id", overflow="fold")
        table.add_column("query", overflow="ellipsis", no_wrap=True)
        for column in ("from", "to", "change"):
            table.add_column(column, justify="right", no_wrap=True)
        for rows in (found.gained, tuple(reversed(found.lost))):
            for each in rows:
                cells = (f"{each.against:.3f}", f"{each.value:.3f}", f"{each.difference:+.3f}")
                text = evaluation.texts.get(each.query, "")
                table.add_row(as_typed(each.query), as_typed(text), *cells)
            table.add_section()
        yield table


def notes(evaluation: Evaluation, ranked: Mapping[str, Ranked] | None = None) -> Iterator[str]:
    """What must be known to read the tables: what was left out, how deep, which signals gave nothing."""
    if evaluation.excluded:
        yield f"{evaluation.excluded} queries without a relevant document were left out"
    if ranked:
        depths = {each.depth for each in ranked.values()}
        yield f"ranked to depth {', '.join(map(str, sorted(depths)))}"
        for profile, each in ranked.items():
            for leg, reason in each.reasons.items():
                yield f"{profile}: {leg} gave nothing: {reason}"


def _compared(found: Comparison) -> tuple[str, ...]:
    return (
        f"{found.difference:+.4f}",
        p_value(found.holm_randomisation),
        p_value(found.holm_t),
        f"{found.wins}/{found.losses}",
    )
