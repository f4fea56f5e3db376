"""The lines of a text file, plain or gzip, and what is wrong in one of them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from trifuse.ranker.errors import UnreadableInput

_GZIP = b"\x1f\x8b"


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Number from 1, and text, of each line that isn't blank.

    Raises:
        UnreadableInput: it can't be read, or isn't UTF-8.
    """
    number = 0
    try:
        with Path(path).open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            for number, line in enumerate(gzip.GzipFile(fileobj=raw) if packed else raw, start=1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
                if text.strip():
                    yield number, text
    except UnicodeDecodeError as error:
        raise fault(path, number, f"no UTF-8: {error.reason}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableInput(f"{path} can't be read after line {number}: {error}") from error


def fault(path: str | Path, number: int, what: str) -> UnreadableInput:
    """What is wrong in a line."""
    return UnreadableInput(f"{path}, line {number}: {what}")
