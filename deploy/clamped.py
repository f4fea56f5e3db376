"""A text in the cell of a table, over a few lines at most."""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text


class Clamped:
    """Wraps a text at its words; an ellipsis ends the last line where there is more."""

    def __init__(self, text: Text, *, lines: int = 2) -> None:
        self._text = text
        self._lines = lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        wrapped = [line.copy() for line in self._text.wrap(console, options.max_width)]
        for line in wrapped:
            line.rstrip()
        yield from wrapped[: self._lines - 1]
        if last := wrapped[self._lines - 1 :]:
            rest = Text(" ").join(last)
            rest.truncate(options.max_width, overflow="ellipsis")
            yield rest

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._text)
