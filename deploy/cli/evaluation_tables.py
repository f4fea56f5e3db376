"""An evaluation as a table for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table
from rich.text import Text

from trifuse.ranker.evaluation import Evaluation, Ranked
from trifuse.ranker.evaluation.report import Comparison


def evaluation_table(evaluation: Evaluation) -> Table:
    """A section a measure, and in it a row a profile: mean, interval, and what it was compared with."""
    others = {found.against for compared in evaluation.tests.values() for found in compared.values()}
    table = Table(title=f"{evaluation.queries} queries", title_justify="left", caption_justify="left")
    table.add_column("profile", overflow="fold")
    for column in ("mean", "95 %"):
        table.add_column(column, justify="right", no_wrap=True)
    if others:
        for column in ("difference", "p random.", "p t", "won/lost"):
            table.add_column(column, justify="right", no_wrap=True)
        from_what = f"from {next(iter(others))}" if len(others) == 1 else "from the profile in brackets"
        table.caption = (
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
            table.add_row(Text(name), *cells, *(_compared(found) if found else ()))
        table.add_section()
    return table


def _compared(found: Comparison) -> tuple[str, ...]:
    return (
        f"{found.difference:+.4f}",
        _p(found.holm_randomisation),
        _p(found.holm_t),
        f"{found.wins}/{found.losses}",
    )


def notes(evaluation: Evaluation, ranked: Mapping[str, Ranked], in_log: int = 0) -> Iterator[str]:
    """What must be known to read the tables: what was left out, how deep, which signals gave nothing."""
    if evaluation.excluded:
        yield f"{evaluation.excluded} queries without a relevant document were left out"
    depths = {each.depth for each in ranked.values()}
    yield f"ranked to depth {', '.join(map(str, sorted(depths)))}"
    if in_log:
        yield f"the click log has {in_log} of these queries itself: that flatters the profiles with clicks"
    for profile, each in ranked.items():
        for leg, reason in each.reasons.items():
            yield f"{profile}: {leg} gave nothing: {reason}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"
