"""How far a job has come, as whoever waits for it is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec


class Step(msgspec.Struct, frozen=True):
    """How far one part of a job has come.

    Args:
        doing: what becomes of documents: they get their vectors, are split into sentences, or copied.
        index: where that is written.
        total: documents that were found to be done.
        done: how many of these need no waiting for any more.
        note: what may be in the way; "" where nothing is known to be.
    """

    doing: Literal["embedding", "splitting", "copying"]
    index: str
    total: int
    done: int
    note: str = ""


Tell = Callable[[Step], None]
"""What is told of each step."""
