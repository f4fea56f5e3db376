"""An evaluation as a picture."""

from __future__ import annotations

from pathlib import Path

from trifuse.ranker.evaluation.pictures import COLOURS, figure, save
from trifuse.ranker.evaluation.report import Evaluation


def plot(evaluation: Evaluation, path: str | Path) -> None:
    """A panel a measure, and in it each profile's mean with its interval.

    Raises:
        ExtraMissing: matplotlib isn't installed.
    """
    profiles = list(evaluation.ci95)
    measures = list(evaluation.ci95[profiles[0]])
    drawn = figure(2.4 * len(measures) + 1.6, 0.45 * len(profiles) + 1.8)
    places = range(len(profiles))
    for number, measure in enumerate(measures, start=1):
        axes = drawn.add_subplot(1, len(measures), number)
        for place, profile in enumerate(profiles):
            low, high = evaluation.ci95[profile][measure]
            colour = COLOURS[place % len(COLOURS)]
            axes.hlines(place, low, high, color=colour, linewidth=1.5)
            axes.plot(evaluation.mean(profile, measure), place, color=colour, marker="o")
        axes.set_yticks(list(places), profiles if number == 1 else [""] * len(profiles))
        axes.set_ylim(len(profiles) - 0.5, -0.5)
        axes.set_xlabel(measure)
        axes.grid(axis="x", alpha=0.3)
    save(drawn, path, f"{evaluation.queries} queries: means and 95 % intervals")
