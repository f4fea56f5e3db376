"""What pictures have in common. matplotlib is imported when one is drawn."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from trifuse.ranker.errors import ExtraMissing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = (".png", ".svg", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
"""Okabe and Ito 2008, "Color Universal Design": told apart in every common form of colour blindness."""


def figure(width: float, height: float) -> Figure:
    """An empty picture, in inches, which needs no display.

    Raises:
        ExtraMissing: matplotlib isn't installed.
    """
    try:
        made: Figure = importlib.import_module("matplotlib.figure").Figure(
            figsize=(width, height), layout="constrained"
        )
    except ImportError as error:
        raise ExtraMissing(f"a plot needs matplotlib ({error}): pip install 'trifuse[tune]'") from error
    return made


def save(drawn: Figure, path: str | Path, title: str) -> None:
    """Write a picture, as what its name ends with: PNG, SVG or PDF."""
    for axes in drawn.axes:
        axes.set_axisbelow(True)
    drawn.suptitle(title, fontsize=11)
    drawn.savefig(path, dpi=150)
