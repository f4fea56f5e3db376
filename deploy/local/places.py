"""Where trifuse keeps what it starts: data, logs, and the note of what runs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import platformdirs

from trifuse.deploy.errors import FolderUnreachable, TooLittleDisk

MIB = 1 << 20
LEAST_FREE = 2048 * MIB
"""Free bytes that are wanted at the start; at the watermarks below OpenSearch stops accepting writes."""
WATERMARKS = {"low": 1024 * MIB, "high": 768 * MIB, "flood_stage": 512 * MIB}
"""In bytes and not the default's percents: 95 percent of a large disk may leave plenty."""


def home_dir(environ: Mapping[str, str] | None = None) -> Path:
    """TRIFUSE_HOME, or the user's data folder; root's is /var/lib/trifuse, where other users can enter."""
    given = (os.environ if environ is None else environ).get("TRIFUSE_HOME")
    if given:
        return Path(given).expanduser().resolve()
    if os.geteuid() == 0:
        return Path("/var/lib/trifuse")
    return Path(platformdirs.user_data_dir("trifuse"))


def make_folder(folder: Path) -> Path:
    """The folder, made where it isn't there. Raises FolderUnreachable where it can't be written to."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FolderUnreachable(
            f"the folder {folder} can't be made ({error.strerror}): choose another with --data or"
            " TRIFUSE_HOME"
        ) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FolderUnreachable(
            f"the folder {folder} can't be written to: choose another with --data or TRIFUSE_HOME"
        )
    return folder


def require_disk(folder: Path, least: int = LEAST_FREE) -> None:
    """Raises TooLittleDisk where the folder's disk has fewer free bytes than `least`."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < least:
        raise TooLittleDisk(
            f"{there} has {free / MIB:,.0f} MiB of free disk, and OpenSearch needs {least / MIB:,.0f} MiB to"
            " accept writes: free some, or choose a folder on another disk with --data or TRIFUSE_HOME"
        )
