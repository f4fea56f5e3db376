"""Says what happens: steps with their time, progress bars, tables; plain lines where there is no terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

Stage = Callable[[str, int, int], None]
"""Called with what is done, how far it is, and the total."""

_PLAIN_WIDTH = 110
_INDENT = "   "


class Narrator:
    """Writes to one stream, and keeps how long each step took.

    Args:
        file: where it writes; a stream that is no terminal gets wide plain lines.
    """

    def __init__(self, file: TextIO) -> None:
        console = Console(file=file, highlight=False)
        if not console.is_terminal and "COLUMNS" not in os.environ:
            console = Console(file=file, highlight=False, width=_PLAIN_WIDTH)
        self._console = console
        self.seconds: dict[str, float] = {}

    @contextmanager
    def step(self, name: str, title: str) -> Iterator[None]:
        """A step: its title before, its time after; `seconds[name]` keeps the time."""
        self._console.print(f"\n{len(self.seconds) + 1}  {title}", style="bold", markup=False)
        started = time.monotonic()
        yield
        self.seconds[name] = round(time.monotonic() - started, 2)
        self.say(f"{self.seconds[name]:.1f} s", style="dim")

    def say(self, text: str, *, style: str | None = None) -> None:
        """A line of a step."""
        for line in text.splitlines():
            self._console.print(f"{_INDENT}{line}", style=style, markup=False, soft_wrap=True)

    def title(self, text: str) -> None:
        """A line of its own."""
        self._console.print(text, style="bold", markup=False, soft_wrap=True)

    def table(self, table: Table) -> None:
        """A table, as wide as the terminal."""
        self._console.print()
        self._console.print(table)

    @contextmanager
    def stages(self) -> Iterator[Stage]:
        """Progress bars, one for each stage that is named while the block runs; nothing where none is."""
        columns = (TextColumn(_INDENT + "{task.description}"), BarColumn(), MofNCompleteColumn())
        progress = Progress(*columns, TimeElapsedColumn(), console=self._console)
        with ExitStack() as shown:
            tasks: dict[str, TaskID] = {}

            def show(stage: str, done: int, total: int) -> None:
                if not tasks:
                    shown.enter_context(progress)
                if stage not in tasks:
                    tasks[stage] = progress.add_task(stage, total=total)
                progress.update(tasks[stage], completed=done, total=total)

            yield show
