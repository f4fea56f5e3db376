"""A tuning as tables for people. Pure: nothing is printed here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.ranker.evaluation.printing import as_typed, p_value
from trifuse.ranker.tuning.result import Mean, Point, Tuning
from trifuse.ranker.tuning.space import Setting

_SHOWN = 5


def tables(tuning: Tuning) -> Group:
    """What was found, what is as good, what happens around it, and what to be careful about."""
    parts: list[Table | Text] = [_found(tuning), _folds(tuning), _equal(tuning)]
    parts += [_curve(tuning, name) for name in tuning.curve if len(tuning.curve[name]) > 1]
    return Group(*parts, *(as_typed(f"caution: {each}") for each in tuning.cautions))


def described(setting: Setting) -> str:
    """A setting in a line.

    >>> described(Setting(0.4, 2.0, "min_max", "weighted_sum", 60, 100))
    'lexical 0.6, dense 0.4, clicks 2; min_max, weighted_sum; depth 100'
    """
    weights = [
        f"lexical {1 - setting.dense:.3g}",
        f"dense {setting.dense:.3g}",
        f"clicks {'/'.join(f'{weight:.3g}' for weight in setting.segments or (setting.clicks,))}",
    ]
    constant = f", rank_constant {setting.rank_constant}" if setting.combination == "rrf" else ""
    return f"{', '.join(weights)}; {setting.technique}{constant}; depth {setting.depth}"


def _found(tuning: Tuning) -> Table:
    table = _table(
        f"{tuning.measure} of {len(tuning.per_query)} queries held out, {tuning.settings_tried} settings "
        f"tried ({tuning.search})",
        "",
        "mean",
        "95 %",
    )
    for name, value in (
        (as_typed(f"baseline: {tuning.against}"), tuning.baseline),
        (Text("tuned, held out"), tuning.heldout),
        (Text("difference"), tuning.difference),
    ):
        table.add_row(name, *_mean(value, signed=value is tuning.difference))
    table.add_section()
    table.add_row("tuned, on the queries it was chosen by", f"{tuning.train:.4f}", "")
    p = p_value(tuning.p_value)
    table.caption = (
        f"p {p if p.startswith('<') else f'= {p}'} (paired randomisation test, two-sided)\n"
        f"chosen: {described(tuning.best)} ({tuning.fitted.mean:.4f} where it was chosen)"
    )
    return table


def _folds(tuning: Tuning) -> Table:
    table = _table("what was chosen without each part", "setting", "queries", "train", "held out", "baseline")
    for fold in tuning.folds:
        means = (f"{value:.4f}" for value in (fold.train, fold.heldout, fold.baseline))
        table.add_row(described(fold.setting), str(fold.queries), *means)
    return table


def _equal(tuning: Tuning) -> Table:
    table = _table(
        f"{len(tuning.equal)} settings aren't significantly worse than the best (adjusted p ≥ 0.05)",
        "setting",
        "mean",
        "p worse",
    )
    for each in tuning.equal[:_SHOWN]:
        table.add_row(described(each.setting), f"{each.mean:.4f}", f"{each.p_worse:.3f}")
    return table


def _curve(tuning: Tuning, name: str) -> Table:
    points = tuning.curve[name]
    columns = ["held out"] if points[0].held is not None else []
    how = "each with its best weights" if name == "technique" else "changed alone"
    table = _table(f"{name}, {how} (* chosen)", name, "mean", "95 %", *columns)
    for row in _rows(points):
        table.add_row(*row)
    return table


def _rows(points: Sequence[Point]) -> Iterator[tuple[str, ...]]:
    for point in points:
        held = () if point.held is None else (f"{point.held:.4f}",)
        yield (f"{point.value}{' *' if point.chosen else ''}", *_mean(point.train), *held)


def _mean(value: Mean, *, signed: bool = False) -> tuple[str, str]:
    low, high = value.ci95
    return (
        (f"{value.mean:+.4f}", f"{low:+.3f} to {high:+.3f}")
        if signed
        else (
            f"{value.mean:.4f}",
            f"{low:.3f} to {high:.3f}",
        )
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=Text(title), title_justify="left", caption_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left", no_wrap=bool(number), overflow="fold")
    return table
