"""Resident memory of processes while documents are done, and how it grows with them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MIB = 1 << 20
WARM = 0.3
"""The part of a process's life in which it still fills its caches."""

POINTS = 40


@dataclass(frozen=True)
class Curve:
    """Resident memory of one part over all of its processes.

    Args:
        processes: how many were seen.
        peak_mib: the highest that one of them had.
        slope_mib_per_1000: a line through the memory of the longest-lived process, over the documents that
            were done meanwhile, without its warm-up; per thousand documents.
        documents, mib: points of that process: documents done, and its memory.
    """

    processes: int
    peak_mib: float
    slope_mib_per_1000: float
    documents: list[int]
    mib: list[float]


class Watched:
    """Looks at processes now and then."""

    def __init__(self) -> None:
        self._seen: dict[str, dict[int, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))

    def look(self, done: int, **pids: Iterable[int]) -> None:
        """Note the memory of these processes, by the part that they belong to, at so many documents done."""
        for part, listed in pids.items():
            for pid in listed:
                with suppress(OSError):
                    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
                    if pages:
                        self._seen[part][pid].append((done, pages * os.sysconf("SC_PAGE_SIZE") / MIB))

    def curves(self) -> dict[str, Curve]:
        """What was seen, by part."""
        return {part: _curve(list(processes.values())) for part, processes in self._seen.items()}


def _curve(processes: list[list[tuple[int, float]]]) -> Curve:
    longest = max(processes, key=len)
    points = np.array(longest, dtype=np.float64)
    warm = points[int(len(points) * WARM) :]
    moved = len(warm) > 2 and bool(np.ptp(warm[:, 0]) > 0)
    slope = float(np.polyfit(warm[:, 0], warm[:, 1], 1)[0]) * 1000 if moved else 0.0
    shown = points[:: max(1, len(points) // POINTS)]
    return Curve(
        processes=len(processes),
        peak_mib=round(max(mib for process in processes for _, mib in process), 1),
        slope_mib_per_1000=round(slope, 3),
        documents=[int(done) for done in shown[:, 0]],
        mib=[round(float(mib), 1) for mib in shown[:, 1]],
    )
