"""Who the local OpenSearch runs as: it refuses root, so root starts it as a user without rights."""

from __future__ import annotations

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from trifuse.deploy.errors import FolderUnreachable, LocalServiceError

NAMES = ("opensearch", "nobody")


@dataclass(frozen=True)
class ServiceUser:
    """A user that a service runs as."""

    name: str
    uid: int
    gid: int


def service_user() -> ServiceUser | None:
    """None where we aren't root (a service is then started as who we are), else a user without rights."""
    if os.geteuid() != 0:
        return None
    for name in NAMES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return ServiceUser(name, entry.pw_uid, entry.pw_gid)
    raise LocalServiceError(
        f"OpenSearch won't run as root, and none of the users {', '.join(NAMES)} exists: make one with"
        " `useradd --system opensearch`, or run trifuse as another user"
    )


def own(folder: Path, user: ServiceUser | None) -> None:
    """Make the folder and what is in it the user's; nothing where the service runs as who we are."""
    if user is None:
        return
    for path in (folder, *folder.rglob("*")):
        os.chown(path, user.uid, user.gid, follow_symlinks=False)


def require_reachable(path: Path, user: ServiceUser | None, *, remedy: str) -> None:
    """Raises FolderUnreachable, with the remedy, where a folder above the path is closed to the user."""
    if user is None:
        return
    for parent in reversed(path.resolve().parents):
        status = parent.stat()
        bit = 0o100 if status.st_uid == user.uid else 0o010 if status.st_gid == user.gid else 0o001
        if not status.st_mode & bit:
            raise FolderUnreachable(
                f"OpenSearch runs as {user.name} (it refuses root), who can't enter {parent} (mode"
                f" {status.st_mode & 0o777:o}) to reach {path}: {remedy}, or open that folder:"
                f" chmod o+x {parent}"
            )
