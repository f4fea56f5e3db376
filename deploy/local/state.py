"""The note of what `trifuse up` runs, which later commands read: `state.json` in the data folder."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from trifuse.deploy.errors import LocalServiceError
from trifuse.deploy.local.places import make_folder
from trifuse.deploy.local.processes import Process
from trifuse.deploy.local.services import Service

FILE = "state.json"


@dataclass(frozen=True)
class State:
    """What `trifuse up` left running.

    Args:
        encoder: what commands take where none is named; that of the first worker.
        services: those that were started here; a service that was there already is only a URL.
    """

    opensearch_url: str
    redis_url: str
    broker_url: str
    encoder: str
    services: tuple[Service, ...] = ()

    def running(self, name: str) -> Service | None:
        """The service of that name, where it was started here and still runs."""
        found = [service for service in self.services if service.name == name and service.process.alive()]
        return found[0] if found else None


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    url: str
    pid: int
    started: str
    logs: list[str]
    encoder: str = ""


class _File(msgspec.Struct):
    opensearch_url: str
    redis_url: str
    broker_url: str
    encoder: str
    services: list[_Row]


def save_state(folder: Path, state: State) -> None:
    """Write the note, for its owner only: a URL may hold a password."""
    rows = [_row(service) for service in state.services]
    file = _File(state.opensearch_url, state.redis_url, state.broker_url, state.encoder, rows)
    written = folder / f".{FILE}"
    written.touch(0o600)
    written.write_bytes(msgspec.json.format(msgspec.json.encode(file), indent=2))
    written.replace(folder / FILE)


def load_state(folder: Path) -> State | None:
    """The note, or None where `trifuse up` left none. Raises LocalServiceError where it can't be read."""
    path = folder / FILE
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as error:
        raise LocalServiceError(
            f"{path}, the note of what runs, can't be read ({error}): end what still runs, delete the file,"
            " and run `trifuse up` again"
        ) from error
    services = tuple(_service(row) for row in file.services)
    return State(file.opensearch_url, file.redis_url, file.broker_url, file.encoder, services)


def clear_state(folder: Path) -> None:
    """Delete the note."""
    (folder / FILE).unlink(missing_ok=True)


@contextlib.contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """One `up` or `down` at a time in this folder: a second waits for the first."""
    with (make_folder(folder) / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _row(service: Service) -> _Row:
    logs = [str(log) for log in service.logs]
    return _Row(
        service.name, service.url, service.process.pid, service.process.started, logs, service.encoder
    )


def _service(row: _Row) -> Service:
    logs = tuple(Path(log) for log in row.logs)
    return Service(row.name, row.url, Process(row.pid, row.started), logs, row.encoder)
