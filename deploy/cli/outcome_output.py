"""What `trifuse outcome` shows: tables, the reliability curve, and files."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from trifuse.deploy.clamped import Clamped

if TYPE_CHECKING:
    from trifuse.deploy.outcome.compare import Comparison
    from trifuse.deploy.outcome.labels import Outcomes
    from trifuse.deploy.outcome.predict import Prediction

SHOWN = 20
FEW = 20
"""Trials of the rarer outcome below which figures are cautioned of."""

_ROWS = {
    "accuracy": "ACC",
    "roc_auc": "ROC-AUC",
    "pr_auc": "PR-AUC",
    "pr_auc_negative": "PR-AUC of\nnegatives",
    "brier": "Brier\n(less: better)",
    "calibration_error": "ECE\n(less: better)",
}


def counts_lines(found: Comparison, outcomes: Outcomes) -> list[str]:
    """How many trials there were of each outcome, and a caution where they are too few to tell much."""
    parts = "; ".join(f"{part} {yes:,} and {no:,}" for part, (yes, no) in found.trials.items())
    lines = [
        f"trials that are {' or '.join(outcomes.positive)}, and {' or '.join(outcomes.negative)}: {parts}"
    ]
    chosen, judged = min(found.trials["valid"]), min(found.trials["test"])
    if min(chosen, judged) < FEW:
        lines.append(
            f"caution: of the rarer outcome {judged:,} judge, and {chosen:,} chose the penalty: with fewer "
            f"than {FEW} the figures hardly tell one method from another, and probabilities are rough"
        )
    return lines


def comparison_table(found: Comparison, encoder: str) -> Table:
    """A column a method, a row a measure, with intervals."""
    table = Table(caption=f"vectors: {encoder}; 95 % intervals", caption_justify="left")
    table.add_column("measure")
    for name in found.methods:
        table.add_column(Text(name), justify="right")
    for measure, title in _ROWS.items():
        values = (judged.measures[measure] for judged in found.methods.values())
        cells = (f"{value.mean:.3f}\n{value.ci95[0]:.2f}-{value.ci95[1]:.2f}" for value in values)
        table.add_row(title, *cells)
    return table


def predictions_table(found: Sequence[Prediction], positive: Sequence[str]) -> Table:
    """The first predictions: the trials that are least likely to end well."""
    shown = f"the first {SHOWN} of {len(found):,} trials" if len(found) > SHOWN else f"{len(found)} trials"
    title = f"probability of {' or '.join(positive)}, least first: {shown}"
    table = Table(title=Text(title), title_justify="left", expand=True)
    table.add_column("trial", no_wrap=True)
    table.add_column("title", ratio=1)
    table.add_column("probability", justify="right")
    for each in found[:SHOWN]:
        table.add_row(Text(each.id), Clamped(Text(each.title)), _probability(each.probability))
    return table


def _probability(value: float) -> str:
    """Three places, and never a certainty."""
    return ">0.999" if value > 0.9995 else "<0.001" if value < 0.0005 else f"{value:.3f}"


def write_csv(found: Sequence[Prediction], path: Path) -> None:
    """Write all predictions: id, probability."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["id", "probability"])
        writer.writerows([each.id, f"{each.probability:.6f}"] for each in found)


def draw_reliability(found: Comparison, path: Path, *, title: str) -> None:
    """Draw for each method what came of trials, over what was predicted of them."""
    from trifuse.ranker.evaluation.pictures import COLOURS, figure, save

    drawn = figure(6.0, 5.0)
    axes = drawn.add_subplot()
    axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for at, (name, judged) in enumerate(found.methods.items()):
        curve, error = judged.reliability, judged.measures["calibration_error"].mean
        colour = COLOURS[(at - 1) % len(COLOURS)] if at else "black"
        axes.plot(curve.predicted, curve.observed, color=colour, linewidth=1, alpha=0.6)
        sizes = 10 + 150 * curve.trials / curve.trials.sum()
        axes.scatter(curve.predicted, curve.observed, sizes, color=colour, label=f"{name} (ECE {error:.3f})")
    axes.set_xlabel("predicted probability (mean of each tenth; larger points: more trials)")
    axes.set_ylabel("share that ended so")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend()
    save(drawn, path, title)
