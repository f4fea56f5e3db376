"""What became of a click log."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec


class IntakeReport(msgspec.Struct):
    """What became of a log; `read` is `counted` and everything under `rejected`.

    Not every rejection is a fault of the log: `trifuse.worker.clicks.checks.NO_FAULTS`.

    Args:
        counted: clicks that are counted now.
        rejected: reason to how many.
        queries: past queries that are new.
        pairs: pairs of query and document that are new, where the intake counts them.
        impressions: pages of results that are kept beside the clicks, for what comes to need them.
        ignored: records of other actions, and of no clicks.
    """

    counted: int = 0
    rejected: Counter[str] = msgspec.field(default_factory=Counter)
    queries: int = 0
    pairs: int = 0
    impressions: int = 0
    ignored: int = 0

    def reject(self, reason: str, number: int = 1) -> None:
        """Note that so many were rejected."""
        if number:
            self.rejected[reason] += number

    @property
    def read(self) -> int:
        """How many clicks were in the log, good or bad."""
        return self.counted + sum(self.rejected.values())

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON."""
        return {"read": self.read, **msgspec.structs.asdict(self), "rejected": dict(self.rejected)}
