"""The demonstration's two tables: rankings side by side, and what each signal gave the fused hits."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from trifuse.deploy.clamped import Clamped
from trifuse.deploy.demo.rankings import LEGS, Ranked, Signal, by_leg

NAMES = {"lexical": "BM25", "dense": "dense vectors", "clicks": "clicks"}
_COLOURS = ("bright_green", "bright_cyan", "bright_magenta", "bright_yellow", "bright_blue", "bright_red")


def side_by_side(hits: Sequence[Ranked], *, rows: int) -> Table:
    """The first rows of each ranking, a column each; the fused ranking's best have a colour everywhere."""
    rankings = [*(by_leg(hits, leg) for leg in LEGS), list(hits)]
    table = Table(title="One query, four rankings", title_justify="left", expand=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    for name in (*NAMES.values(), "all three"):
        table.add_column(name, ratio=1)
    for row in range(min(rows, max(map(len, rankings), default=0))):
        table.add_row(str(row + 1), *(_label(ranking, row) for ranking in rankings))
    return table


def signals(hits: Sequence[Ranked], *, rows: int) -> Table:
    """What each signal gave the first fused hits: rank and raw score there, weight and normalised score."""
    table = Table(title="What each signal gave", title_justify="left", expand=True, show_lines=True)
    table.add_column("", justify="right", style="dim", no_wrap=True)
    table.add_column("trial", ratio=1)
    table.add_column("fused", justify="right", no_wrap=True)
    for name in NAMES.values():
        table.add_column(name, justify="right", no_wrap=True)
    for hit in hits[:rows]:
        cells = (_signal(hit.legs.get(leg)) for leg in LEGS)
        title = Group(Clamped(Text(hit.title, _colour(hit))), Text(hit.id, "dim"))
        table.add_row(str(hit.rank), title, f"{hit.score:.3f}", *cells)
    table.caption = "#rank and score by that signal alone; then its weight x its score normalised"
    return table


def _label(ranking: Sequence[Ranked], row: int) -> Text | Clamped:
    if row >= len(ranking):
        return Text("-", style="dim")
    return Clamped(Text(ranking[row].title or ranking[row].id, style=_colour(ranking[row])))


def _colour(hit: Ranked) -> str:
    return _COLOURS[hit.rank - 1] if hit.rank <= len(_COLOURS) else ""


def _signal(signal: Signal | None) -> Text:
    if signal is None:
        return Text("-", style="dim")
    return Text(f"#{signal.rank}  {signal.score:.3g}\n{signal.weight:.2f} x {signal.normalized:.3f}")
