"""The bars of a copy that is filled and embedded, for the commands that make one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn

from trifuse.deploy.cli.common import err
from trifuse.indexer.copying.complete import Step
from trifuse.indexer.copying.fill import CopyStep


@contextmanager
def copy_bars() -> Iterator[Callable[[Step], None]]:
    """Bars on stderr: documents copied in the present pass, and documents embedded."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=err) as progress:
        bars: dict[str, TaskID] = {}

        def step(now: Step) -> None:
            copying = isinstance(now, CopyStep)
            total = now.total if isinstance(now, CopyStep) else now.pending
            name = f"{now.index}: {'copied' if copying else 'embedded'}"
            if not total:
                return
            if name not in bars:
                bars[name] = progress.add_task(name, total=total)
            progress.update(bars[name], total=total, completed=now.done)

        yield step
