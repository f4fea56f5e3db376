"""The curve around a tuned setting as a picture. matplotlib is imported when one is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trifuse.ranker.evaluation.pictures import COLOURS, figure, save
from trifuse.ranker.tuning.result import Point, Tuning

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BLUE, _ORANGE, _GREEN, _ = COLOURS


def plot(tuning: Tuning, path: Path) -> None:
    """A panel for each choice that was changed alone; lines for the baseline and what was held out.

    Raises:
        ExtraMissing: matplotlib isn't installed.
    """
    panels = {name: points for name, points in tuning.curve.items() if len(points) > 1}
    columns = max(1, min(2, len(panels)))
    rows = math.ceil(len(panels) / columns)
    drawn = figure(4.8 * columns, 3.8 * max(rows, 1) + 0.6)
    axes: Axes | None = None
    for number, (name, points) in enumerate(panels.items(), start=1):
        axes = drawn.add_subplot(rows, columns, number, sharey=axes)
        _panel(axes, name, points, tuning)
    if axes is not None:
        drawn.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2)
    title = f"{tuning.measure}: {tuning.settings_tried} settings, {len(tuning.per_query)} queries held out"
    save(drawn, path, title)


def _panel(axes: Axes, name: str, points: Sequence[Point], tuning: Tuning) -> None:
    numbers = name != "technique"
    places = [float(point.value) for point in points] if numbers else list(range(len(points)))
    means = [point.train.mean for point in points]
    low, high = zip(*(point.train.ci95 for point in points), strict=True)
    if numbers:
        axes.plot(places, means, color=_BLUE, marker="o", markersize=3, label="chosen by")
        axes.fill_between(places, low, high, color=_BLUE, alpha=0.12, linewidth=0)
    else:
        axes.vlines(places, low, high, color=_BLUE, linewidth=1.5)
        axes.plot(places, means, color=_BLUE, marker="o", linestyle="", label="chosen by")
        axes.set_xticks(places, [point.value for point in points], fontsize=7, rotation=25, ha="right")
    held = [point.held for point in points if point.held is not None]
    if held:
        axes.plot(places, held, color=_GREEN, marker="s", markersize=3, linestyle="--", label="held out")
    for place, point in zip(places, points, strict=True):
        if point.chosen:
            axes.plot([place], [point.train.mean], color=_ORANGE, marker="*", markersize=13, linestyle="")
    axes.axhline(tuning.baseline.mean, color="black", linewidth=1, linestyle=":", label=tuning.against)
    axes.axhline(tuning.heldout.mean, color=_ORANGE, linewidth=1, linestyle="--", label="tuned, held out")
    how = "changed alone" if numbers else "each with its best weights"
    axes.set_xlabel(f"{name} ({how}; star: chosen)")
    axes.set_ylabel(f"{tuning.measure} (mean, 95 % interval)")
    axes.grid(alpha=0.3)
