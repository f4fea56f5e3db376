"""Pinned files into the cache: found in the user's jar cache or downloaded, verified, moved in one step."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import platformdirs

from trifuse.encoder.errors import CorruptDownload, DownloadFailed

ATTEMPTS = 3
TIMEOUT_S = 30


def cache_dir() -> Path:
    """Where trifuse keeps downloads: `TRIFUSE_CACHE`, or the user's cache folder."""
    chosen = os.environ.get("TRIFUSE_CACHE")
    return Path(chosen).expanduser() if chosen else platformdirs.user_cache_path("trifuse")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch_artifact(coordinate: str, sha256: str, target: Path, packaging: str = "jar") -> Path:
    """Put a published artifact at `target`, which afterwards is whole or not there.

    A copy in the user's own jar cache is taken if it has the hash; nothing is written there.

    Args:
        coordinate: `group:artifact:version`.
        sha256: the hash that the file must have.
        target: the file to make; left alone if it stands there and has the hash.
        packaging: the kind of file, `jar` or `zip`.

    Returns:
        `target`.

    Raises:
        DownloadFailed: no network, no room, no such artifact, or the extra `local` is missing.
        CorruptDownload: what came hasn't the hash.
    """
    if target.is_file() and sha256_of(target) == sha256:
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        own = _artifact(coordinate, packaging, None).cached_path
        with tempfile.TemporaryDirectory(prefix=".new-", dir=target.parent) as folder:
            if own.is_file() and sha256_of(own) == sha256:
                new = Path(shutil.copyfile(own, Path(folder) / target.name))
            else:
                new = _download(coordinate, packaging, Path(folder))
                _require_hash(new, sha256, coordinate)
            new.replace(target)
    except OSError as error:
        raise DownloadFailed(
            f"could not put {coordinate} at {target}: {error}; check the network and the room on the disk "
            "(TRIFUSE_CACHE names another folder, TRIFUSE_MAVEN_URL a mirror)"
        ) from error
    return target


def _require_hash(path: Path, sha256: str, coordinate: str) -> None:
    found = sha256_of(path)
    if found != sha256:
        raise CorruptDownload(
            f"{coordinate} came with SHA-256 {found}, expected {sha256}: the download is corrupt, or the "
            "mirror (TRIFUSE_MAVEN_URL) serves another file; try again"
        )


def _download(coordinate: str, packaging: str, folder: Path) -> Path:
    """Download past every cache; a few attempts, because mirrors fail now and then."""
    failure: Exception | None = None
    for attempt in range(ATTEMPTS):
        time.sleep(attempt)
        try:
            # A cache of its own for each attempt: what an interrupted one left is never taken for the file.
            artifact = _artifact(coordinate, packaging, folder / str(attempt))
            return Path(artifact.resolve())
        except (OSError, RuntimeError) as error:
            failure = error
    raise DownloadFailed(
        f"could not download {coordinate} in {ATTEMPTS} attempts: {failure}; check the network, or name a "
        "mirror (TRIFUSE_MAVEN_URL)"
    ) from failure


def _artifact(coordinate: str, packaging: str, repository: Path | None) -> Any:
    """The artifact as jgo sees it, with `repository` (the user's own jar cache if None) as its cache."""
    try:
        from jgo.maven import MavenContext
    except ImportError as error:
        raise DownloadFailed(
            f"downloading {coordinate} needs jgo, which isn't installed: pip install 'trifuse[local]'"
        ) from error
    mirror = os.environ.get("TRIFUSE_MAVEN_URL")
    context = MavenContext(
        repo_cache=repository,
        remote_repos={"mirror": mirror.rstrip("/")} if mirror else None,
        timeout=TIMEOUT_S,
    )
    group, name, version = coordinate.split(":")
    return context.project(group, name).at_version(version).artifact(packaging=packaging)
