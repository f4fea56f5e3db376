"""The lines of a file of queries or judgements, plain or gzip, and what is wrong in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from trifuse.encoder.lines import numbered_lines
from trifuse.ranker.errors import UnreadableInput


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number from 1, and text, of each line that isn't blank.

    Raises:
        UnreadableInput: it can't be read, or isn't UTF-8.
    """
    return numbered_lines(path, UnreadableInput)


def fault(path: str | Path, number: int, what: str) -> UnreadableInput:
    """What is wrong in a line."""
    return UnreadableInput(f"{path}, line {number}: {what}")
