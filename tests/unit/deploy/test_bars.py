"""What long work says where stderr is no terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from trifuse.deploy.cli.bars import Bars

COLUMNS = (
    SpinnerColumn(),
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeRemainingColumn(),
    TextColumn("{task.fields[said]}"),
)


class Clock:
    """Seconds that a test decides."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


def _bars(log: io.StringIO, clock: Clock, *columns: object, terminal: bool = False) -> Bars:
    console = Console(file=log, force_terminal=terminal, width=40)
    return Bars(*(columns or COLUMNS), console=console, clock=clock)  # type: ignore[arg-type]


def test_a_line_each_half_minute_and_one_at_the_end_of_a_stage(log: io.StringIO) -> None:
    clock = Clock()
    with _bars(log, clock) as bars:
        task = bars.add_task("training", total=100, said="")
        for step in range(1, 101):
            clock.now = float(step)
            bars.update(
                task, completed=step, said=f"epoch {1 + (step - 1) // 50} of 2, loss 0.5, dev 1 / 2 / 3"
            )
        # The first update is at 1 s, where the half minute begins; a step takes a second.
        said = [line.replace("  ", "|") for line in log.getvalue().splitlines()]
        assert said == [
            "training|31/100|0:01:09 left|epoch 1 of 2, loss 0.5, dev 1 / 2 / 3",
            "training|61/100|0:00:39 left|epoch 2 of 2, loss 0.5, dev 1 / 2 / 3",
            "training|91/100|0:00:09 left|epoch 2 of 2, loss 0.5, dev 1 / 2 / 3",
            "training|100/100|epoch 2 of 2, loss 0.5, dev 1 / 2 / 3",
        ]
    assert len(log.getvalue().splitlines()) == 4  # the end has nothing to add


def test_what_is_ended_early_has_a_last_line_and_what_stands_still_no_second_one(log: io.StringIO) -> None:
    clock = Clock()
    with _bars(log, clock, TextColumn("{task.description}"), TimeElapsedColumn()) as bars:
        task = bars.add_task("a long one")
        bars.advance(task)
    assert log.getvalue() == "a long one  after 0:00:00\n"
    log.truncate(log.seek(0))
    with _bars(log, clock, TextColumn("{task.description}"), MofNCompleteColumn()) as bars:
        task = bars.add_task("trials", total=4)
        for clock.now in (0.0, 30.0, 60.0, 90.0):
            bars.update(task, completed=2)
    assert log.getvalue() == "trials  2/4\n"


def test_on_a_terminal_there_are_bars_and_no_lines(log: io.StringIO) -> None:
    clock = Clock()
    with _bars(log, clock, terminal=True) as bars:
        task = bars.add_task("training", total=2, said="")
        clock.now = 60.0
        bars.update(task, completed=2)
    assert "━" in log.getvalue()
    assert "  2/2" not in log.getvalue().replace("\x1b", "")
