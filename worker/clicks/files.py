"""The files of a click log: paths, folders, standard input; plain or packed."""

from __future__ import annotations

import gzip
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from trifuse.worker.clicks.errors import UnreadableLog

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class LogFile(msgspec.Struct, frozen=True):
    """A file that can be read more than once.

    Args:
        name: for messages.
        named: whether the user named it; what only lies in a folder need not belong to the log.
    """

    name: str
    path: Path
    named: bool = True

    def open(self) -> BinaryIO:
        """Its bytes, unpacked where they are gzip's, after a byte order mark."""
        with self.path.open("rb") as file:
            packed = file.read(len(_GZIP)) == _GZIP
        stream = cast(BinaryIO, gzip.open(self.path)) if packed else self.path.open("rb")  # noqa: SIM115
        if stream.read(len(_BOM)) != _BOM:
            stream.seek(0)
        return stream


def log_files(paths: Iterable[str | Path], stack: ExitStack, stdin: BinaryIO | None = None) -> list[LogFile]:
    """The files that paths name; a folder stands for all in it, `-` for standard input, kept in a file.

    Args:
        stack: deletes what was kept when it is closed.

    Raises:
        UnreadableLog: there is no such file.
    """
    found: list[LogFile] = []
    for path in map(str, paths):
        if path == "-":
            kept = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trifuse-clicks-"))) / "stdin"
            with kept.open("wb") as file:
                shutil.copyfileobj(stdin or sys.stdin.buffer, file)
            found.append(LogFile("standard input", kept))
        elif Path(path).is_dir():
            inside = sorted(p for p in Path(path).rglob("*") if p.is_file() and not p.name.startswith("."))
            found.extend(LogFile(str(p), p, named=False) for p in inside)
        elif Path(path).is_file():
            found.append(LogFile(path, Path(path)))
        else:
            raise UnreadableLog(f"there is no file or folder {path!r}: check the path, or use - for stdin")
    return found
