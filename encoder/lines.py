"""The lines of a text file, plain or gzip, each with its number."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path

from trifuse.encoder.errors import TrifuseError

_GZIP = b"\x1f\x8b"


def numbered_lines(path: str | Path, error: type[TrifuseError]) -> Iterator[tuple[int, str]]:
    """Number from 1, and text, of each line that isn't blank.

    Args:
        error: what to raise where the file can't be read, or isn't UTF-8; its message names the file and the
            line.
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
    except UnicodeDecodeError as cause:
        raise error(f"{path}, line {number}: no UTF-8: {cause.reason}") from cause
    except (OSError, EOFError, zlib.error) as cause:
        raise error(f"{path} can't be read after line {number}: {cause}") from cause
