"""The pinned files of the local OpenSearch: one line a file, `sha256  path-in-the-home  coordinate`."""

from __future__ import annotations

import importlib.resources
from collections.abc import Iterable
from dataclasses import dataclass

from trifuse.deploy.local.distribution import LOCK


@dataclass(frozen=True, order=True)
class LockedFile:
    """A file that is fetched by coordinate, and must have this hash.

    Args:
        path: where it goes, relative to the home: `lib/x.jar`, `modules/reindex/y.jar`, `plugins/z.zip`.
        coordinate: `group:artifact:version`; the packaging is the path's suffix.
        sha256: in hexadecimal.
    """

    path: str
    coordinate: str
    sha256: str

    @property
    def name(self) -> str:
        """The file's own name."""
        return self.path.rpartition("/")[2]

    @property
    def packaging(self) -> str:
        """`jar` or `zip`."""
        return self.path.rpartition(".")[2]


def parse_lock(text: str) -> tuple[LockedFile, ...]:
    """The files that a lock names. Raises ValueError for a line that isn't `sha256 path coordinate`."""
    files = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = line.split()
        if len(parts) != 3 or len(parts[0]) != 64:
            raise ValueError(f"line {number} of the lock is not `sha256  path  coordinate`: {line!r}")
        files.append(LockedFile(path=parts[1], coordinate=parts[2], sha256=parts[0]))
    return tuple(files)


def format_lock(files: Iterable[LockedFile]) -> str:
    """The text of a lock, sorted by path: the reverse of `parse_lock`."""
    head = "# sha256  path in the home  coordinate; written by `python -m trifuse.deploy.local.relock`\n"
    return head + "".join(f"{file.sha256}  {file.path}  {file.coordinate}\n" for file in sorted(files))


def read_lock() -> tuple[LockedFile, ...]:
    """The files of the OpenSearch version that this release of trifuse starts."""
    return parse_lock(importlib.resources.files(__package__).joinpath(LOCK).read_text("utf-8"))
