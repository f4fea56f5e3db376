"""Progress on stderr: bars on a terminal; elsewhere, as in a log, a plain line now and then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from trifuse.deploy.cli.common import err

LINE_S = 30.0
"""Seconds between two lines of a stage at least, but for its last one."""

_MOVING = (BarColumn, SpinnerColumn)


class Bars(Progress):
    """rich's progress, which without a terminal says nothing before its end."""

    def __init__(
        self, *columns: ProgressColumn, console: Console = err, clock: Callable[[], float] | None = None
    ) -> None:
        super().__init__(*columns, console=console, transient=not console.is_interactive, get_time=clock)
        self._lines: dict[TaskID, tuple[float, str]] = {}

    def update(self, task_id: TaskID, **changes: Any) -> None:
        """Change what is known of a stage."""
        super().update(task_id, **changes)
        self._log(task_id)

    def advance(self, task_id: TaskID, advance: float = 1) -> None:
        """A stage has come further."""
        super().advance(task_id, advance)
        self._log(task_id)

    def stop(self) -> None:
        """End it, with a last line of each stage."""
        if self.console.is_interactive:
            super().stop()
            return
        self.live.stop()
        for task_id in self.task_ids:
            self._log(task_id, last=True)

    def _log(self, task_id: TaskID, *, last: bool = False) -> None:
        if self.console.is_interactive:
            return
        task, now = self._tasks[task_id], self.get_time()
        written_at, written = self._lines.setdefault(task_id, (now, ""))
        if not (last or task.finished or now - written_at >= LINE_S):
            return
        line = self._line(task)
        if line != written:
            self._lines[task_id] = now, line
            self.console.print(line, markup=False, soft_wrap=True)

    def _line(self, task: Task) -> str:
        """What the columns say in words."""
        cells = (_words(column, task) for column in self.columns if isinstance(column, ProgressColumn))
        return "  ".join(filter(None, cells))


def _words(column: ProgressColumn, task: Task) -> str:
    if isinstance(column, _MOVING):
        return ""
    cell = column.render(task)
    text = cell.plain.strip() if isinstance(cell, Text) else ""
    if isinstance(column, TimeRemainingColumn):
        return "" if task.finished or task.time_remaining is None else f"{text} left"
    return f"after {text}" if isinstance(column, TimeElapsedColumn) else text
