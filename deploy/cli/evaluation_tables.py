"""An evaluation as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.table import Table

from trifuse.ranker.evaluation import Evaluation, Ranked


def profiles_table(evaluation: Evaluation) -> Table:
    """A row a profile; in each cell the mean, and below it the 95 % interval."""
    measures = list(next(iter(evaluation.ci95.values())))
    table = Table("profile", title=f"{evaluation.queries} queries", title_justify="left")
    for measure in measures:
        table.add_column(measure, justify="right", no_wrap=True)
    for profile, ci95 in evaluation.ci95.items():
        cells = (
            f"{evaluation.mean(profile, measure):.4f}\n{low:.3f}-{high:.3f}"
            for measure, (low, high) in ci95.items()
        )
        table.add_row(profile, *cells)
    return table


def tests_table(evaluation: Evaluation) -> Table:
    """A row a profile and measure: the difference from another profile, and p by both tests."""
    table = Table("profile", "less", "measure", title="paired tests", title_justify="left")
    for column in ("difference", "95 %", "p random.", "p t", "won/lost"):
        table.add_column(column, justify="right", no_wrap=True)
    for profile, compared in evaluation.tests.items():
        for measure, found in compared.items():
            table.add_row(
                profile,
                found.against,
                measure,
                f"{found.difference:+.4f}",
                f"{found.ci95[0]:+.3f} {found.ci95[1]:+.3f}",
                _p(found.holm_randomisation),
                _p(found.holm_t),
                f"{found.wins}/{found.losses}",
            )
    table.caption = "p: two-sided, adjusted for the comparisons in a measure (Holm)"
    return table


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
