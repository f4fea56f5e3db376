"""The studies as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trifuse.ranker.evaluation.cost import Timed
from trifuse.ranker.evaluation.gains import GainStudy
from trifuse.ranker.evaluation.log_size import SizePoint
from trifuse.ranker.evaluation.pictures import COLOURS, KINDS, figure, save
from trifuse.ranker.evaluation.segment_gains import SegmentGains

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PlotOption = Annotated[
    Path | None,
    typer.Option("--plot", dir_okay=False, metavar="FILE.png", help="Draw it, as PNG, SVG or PDF."),
]

_MARKERS = ("o", "s", "^", "D")


def check_plot(path: Path | None) -> None:
    """Refuse a picture that couldn't be written, before the work that it would show.

    Raises:
        BadParameter: no folder, or no kind of picture.
        ExtraMissing: matplotlib isn't installed.
    """
    if path is None:
        return
    if not path.resolve().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {str(path.parent)!r}", param_hint="--plot")
    if path.suffix.lower() not in KINDS:
        raise typer.BadParameter(
            f"{path.name!r} is no kind of picture: end it with {', '.join(KINDS)}", param_hint="--plot"
        )
    figure(1, 1)


def plot_segments(path: Path, gains: SegmentGains, title: str, profile: str, against: str) -> None:
    """A panel a measure; in it the two profiles in each segment, with intervals."""
    measures = list(next(iter(gains.values())))
    drawn = figure(3.6 * len(measures) + 0.6, 4.2)
    places = range(len(gains))
    names = [f"{name}\nn={next(iter(found.values())).queries}" for name, found in gains.items()]
    for number, measure in enumerate(measures):
        axes = drawn.add_subplot(1, len(measures), number + 1)
        rows = [found[measure] for found in gains.values()]
        series = (
            (against, [(row.against, row.against_ci95) for row in rows]),
            (profile, [(row.value, row.value_ci95) for row in rows]),
        )
        for at, (name, values) in enumerate(series):
            _bars(axes, [place + 0.24 * at - 0.12 for place in places], values, at, name)
        axes.set_xticks(list(places), names)
        axes.set_xlim(-0.5, len(gains) - 0.5)
        axes.set_xlabel("queries, by how often the log has them")
        axes.set_ylabel(f"{measure} (mean, 95 % interval)")
        axes.set_ylim(0, 1.03 * axes.get_ylim()[1])
        axes.grid(axis="y", alpha=0.3)
    drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    save(drawn, path, title)


def plot_log_size(path: Path, lines: Mapping[str, Sequence[SizePoint]], title: str, measure: str) -> None:
    """A line for all queries and one a segment, over the share of the log."""
    drawn = figure(6.4, 4.4)
    axes = drawn.add_subplot()
    for at, (name, line) in enumerate(lines.items()):
        percents = [100 * point.share for point in line]
        colour = COLOURS[at % len(COLOURS)]
        axes.plot(
            percents,
            [point.mean for point in line],
            color=colour,
            marker=_MARKERS[at % len(_MARKERS)],
            label=name,
        )
        low, high = zip(*(point.ci95 for point in line), strict=True)
        axes.fill_between(percents, low, high, color=colour, alpha=0.12, linewidth=0)
    axes.set_xlabel("share of the log's past queries that is used (%); 0 is without the log")
    axes.set_ylabel(f"{measure} (mean, bands: 95 % interval)")
    axes.grid(alpha=0.3)
    axes.legend(title="queries")
    save(drawn, path, title)


def plot_gains(path: Path, study: GainStudy, title: str, measure: str) -> None:
    """A row a feature: its coefficient with the interval; those that are constant are said to be."""
    fit = study.regression
    drawn = figure(6.8, 4.6)
    axes = drawn.add_subplot()
    names = list(fit.coefficients)[::-1]
    for place, name in enumerate(names):
        found = fit.coefficients[name]
        if found.constant:
            axes.text(0, place, " constant", va="center", fontsize=8)
            continue
        low, high = found.ci95
        colour = COLOURS[0] if found.value >= 0 else COLOURS[1]
        axes.barh(place, found.value, color=colour, height=0.6)
        axes.plot([low, high], [place, place], color="black", linewidth=1.2)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(
        f"change of the gain in {measure} from the least to the most of a feature\n(lines: 95 % interval; "
        f"{fit.observations} queries, R² = {fit.r2:.2f})"
    )
    axes.set_ylabel("feature of the query")
    axes.grid(axis="x", alpha=0.3)
    _legend(axes, (("more gain", COLOURS[0]), ("less gain", COLOURS[1])))
    save(drawn, path, title)


def plot_cost(path: Path, times: Mapping[str, Timed], title: str, profile: str, against: str) -> None:
    """The time of a search with and without the click leg; above each pair their ratio."""
    drawn = figure(6.0, 4.2)
    axes = drawn.add_subplot()
    places = range(len(times))
    for at, (name, values) in enumerate(
        (
            (against, [found.without_ms for found in times.values()]),
            (profile, [found.with_ms for found in times.values()]),
        )
    ):
        axes.bar([place + 0.36 * at - 0.18 for place in places], values, 0.34, color=COLOURS[at], label=name)
    for place, found in zip(places, times.values(), strict=True):
        low, high = found.ratio_ci95
        axes.text(
            place,
            max(found.with_ms, found.without_ms),
            f"× {found.ratio:.2f}\n({low:.2f} to {high:.2f})",
            ha="center",
            va="bottom",
            fontsize=8,
        )
    axes.set_xticks(list(places), list(times))
    axes.set_xlabel("over all searches; above: with the log over without, and its 95 % interval")
    axes.set_ylabel("time of a search (ms)")
    axes.margins(y=0.22)
    axes.legend()
    axes.grid(axis="y", alpha=0.3)
    save(drawn, path, title)


def _bars(
    axes: Axes,
    places: Sequence[float],
    values: Iterable[tuple[float, tuple[float, float]]],
    number: int,
    label: str,
) -> None:
    """Points with intervals; an interval need not lie around its mean, so its ends are drawn as they are."""
    rows = list(values)
    colour = COLOURS[number]
    axes.vlines(
        places, [low for _, (low, _) in rows], [high for _, (_, high) in rows], color=colour, linewidth=1.5
    )
    means = [mean for mean, _ in rows]
    axes.plot(places, means, linestyle="", marker=_MARKERS[number], color=colour, label=label)


def _legend(axes: Axes, entries: Iterable[tuple[str, str]]) -> None:
    from matplotlib.patches import Patch

    axes.legend(handles=[Patch(color=colour, label=label) for label, colour in entries])
