"""What `trifuse status` shows of workers and indexes, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from trifuse.deploy.local.indexes import CopyStatus
    from trifuse.worker.inspection import WorkerInfo

COUNTS = ("documents", "current", "stale", "missing", "failed", "empty")
_COUNTERS = ("tasks", "embedded", "failed", "retried")


def workers_table(answering: Sequence[WorkerInfo]) -> Table:
    """What each worker did since it started."""
    table = _table(("worker", "encoder"), ("processes", *_COUNTERS, "paused"))
    for worker in answering:
        counted = (str(worker.counters.get(name, 0)) for name in _COUNTERS)
        paused = f"{worker.counters.get('paused_s', 0):.0f} s"
        table.add_row(Text(worker.name), Text(worker.encoder), str(worker.processes), *counted, paused)
    return table


def indexes_table(indexes: Mapping[str, Mapping[str, Any]]) -> Table:
    """A line for each index; and for each of its vector fields, where it has several."""
    table = _table(("index", "encoder"), (*COUNTS, "rate", "left"))
    for index, told in indexes.items():
        fields = told.get("fields") or {"": told}
        for field, counted in fields.items():
            numbers = (str(counted[name]) for name in COUNTS)
            names = (Text(f"{index} {field}".rstrip()), Text(counted["encoder"]))
            table.add_row(*names, *numbers, _rate(counted), _left(counted))
    return table


def failure_lines(indexes: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Why documents failed, and what to do."""
    lines: list[str] = []
    for index, told in indexes.items():
        fields: Mapping[str, Mapping[str, Any]] = told.get("fields") or {"": told}
        reasons = [
            f"  {count:,} × {reason}" for counted in fields.values() for reason, count in _reasons(counted)
        ]
        if reasons:
            retry = f"`trifuse sync {index} --retry-failed` tries them again"
            lines += [f"Failed in {index}; {retry}:", *reasons]
    return lines


def copy_line(copy: CopyStatus) -> str:
    """How far a copy is."""
    if copy.phase == "switched":
        return (
            f"{copy.alias} was switched to {copy.index}; {copy.source} is kept, to go back to, until "
            f"`trifuse reembed {copy.alias} --finish` deletes it."
        )
    doing = {"switching": "is being switched to it", "returning": "is going back from it"}
    return (
        f"{copy.index} is an unfinished copy of {copy.source}; {copy.alias} "
        f"{doing.get(copy.phase, 'is not switched to it yet')}."
    )


def _table(names: Sequence[str], numbers: Sequence[str]) -> Table:
    """Columns of names, which go over several lines where they must, and of numbers, which keep together."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _reasons(counted: Mapping[str, Any]) -> list[tuple[str, int]]:
    return list((counted.get("reasons") or {}).items())


def _rate(counted: Mapping[str, Any]) -> str:
    rate = counted.get("rate") or 0.0
    return f"{rate:.1f}/s" if rate else "-"


def _left(counted: Mapping[str, Any]) -> str:
    left = counted.get("eta_s")
    if left is None:
        return "?"
    return str(timedelta(seconds=left)) if left else "-"
