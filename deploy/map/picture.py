"""A map as PNG, by matplotlib."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from trifuse.deploy.extra import trials_extra
from trifuse.deploy.map.drawing import VectorMap, short
from trifuse.deploy.map.labels import Box, nudges

if TYPE_CHECKING:
    from matplotlib.text import Text


_GAP = 4.0
"""Pixels around a name."""


def write_picture(drawn: VectorMap, path: Path) -> None:
    """Write the picture, with the names of the clusters where they are, or above or below.

    Where there is no room for all it is the names of small clusters that are left out.

    Raises:
        TrialsMissing: matplotlib isn't installed.
    """
    with trials_extra("a picture"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(12, 8), layout="constrained")
    axes = figure.add_subplot()
    for place in range(len(drawn.colouring.legend)):
        rows = [row for row, colour in enumerate(drawn.colouring.of) if colour == place]
        axes.scatter(
            drawn.places[rows, 0],
            drawn.places[rows, 1],
            s=9,
            alpha=0.7,
            linewidths=0,
            color=drawn.colouring.colour(place),
        )
    names: list[Text] = []
    for number, name in enumerate(drawn.names):
        text = axes.text(*drawn.middle(number), short(name), fontsize=7, ha="center", va="center")
        text.set_bbox({"facecolor": "white", "alpha": 0.6, "linewidth": 0, "pad": 1})
        text.set_parse_math(False)  # "$" is a letter in what people write
        names.append(text)
    axes.set_axis_off()
    title = axes.set_title(drawn.title)
    title.set_parse_math(False)
    named = [short(name) for name in drawn.colouring.legend]
    legend = figure.legend(axes.collections, named, loc="outside right upper", fontsize=7, markerscale=2)
    for text in legend.get_texts():
        text.set_parse_math(False)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph", UserWarning)  # a script that the font lacks
        figure.draw_without_rendering()  # how large texts are is known then
        _set_apart(names)
        figure.savefig(path, dpi=150)


def _set_apart(names: Sequence[Text]) -> None:
    """Move names that lie on another's, the first ones least; hide those that there is no room for."""
    boxes: list[Box] = [text.get_window_extent().padded(_GAP).extents for text in names]
    for text, box, up in zip(names, boxes, nudges(boxes), strict=True):
        if up is None:
            text.set_visible(False)
        else:
            middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2 + up
            x, y = text.get_transform().inverted().transform(middle)
            text.set_position((float(x), float(y)))
