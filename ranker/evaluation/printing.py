"""What the tables of evaluations and tunings have in common. Pure: nothing is printed here."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType
from rich.text import Text


def as_typed(value: str) -> Text:
    """What users typed, or an id of theirs, for a table: no markup, nothing that steers a terminal."""
    return Text("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in value))


def as_text(shown: RenderableType) -> str:
    """What `print` writes of an object that shows tables: 100 columns, no colours."""
    file = io.StringIO()
    Console(file=file, width=100, color_system=None, highlight=False).print(shown)
    return "\n".join(line.rstrip() for line in file.getvalue().rstrip("\n").split("\n"))


def p_value(value: float) -> str:
    """A p for people.

    >>> p_value(0.0004), p_value(0.0521)
    ('<0.001', '0.052')
    """
    return "<0.001" if value < 0.001 else f"{value:.3f}"
