"""What every training leaves in its model's folder: a report; and while it runs its state, for a resume."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

REPORT_FILE = "training.json"
STATE_FOLDER = "state"
_ENDS = 20


class Report(Protocol):
    """What a run was, and what came of it."""

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        ...


def finish_run(folder: Path, report: Report) -> None:
    """Put the report beside the model, and take out what a resume would have needed."""
    (folder / REPORT_FILE).write_text(json.dumps(report.as_dict(), indent=1) + "\n")
    shutil.rmtree(folder / STATE_FOLDER, ignore_errors=True)


def ends(**series: Sequence[float]) -> dict[str, float]:
    """Of each series the means of the first and of the last 20 steps: a step's own loss is noisy.

    >>> ends(loss=[2.0, 1.0])
    {'loss_first': 1.5, 'loss_last': 1.5}
    """
    return {
        f"{name}_{end}": sum(some) / len(some)
        for name, values in series.items()
        for end, some in (("first", values[:_ENDS]), ("last", values[-_ENDS:]))
    }
