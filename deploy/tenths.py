"""Trials in ten equal parts, so that what is judged by a trial was never learned from it."""

from __future__ import annotations

import hashlib

TENTHS = range(10)


def tenth_of(trial: str) -> int:
    """Which tenth of all trials one belongs to, by its id alone: the same one in every file, for ever.

    >>> tenth_of("NCT00000102")
    9
    """
    return int(hashlib.sha256(trial.encode()).hexdigest(), 16) % len(TENTHS)
