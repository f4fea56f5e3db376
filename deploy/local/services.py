"""A service that was started here, and waiting until it answers."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from trifuse.deploy.errors import ServiceDied
from trifuse.deploy.local.processes import Process, last_lines, stop

POLL_S = 0.1


@dataclass(frozen=True)
class Service:
    """A service that was started here.

    Args:
        name: `OpenSearch`, `Redis`, `worker`, `beat`.
        url: where it answers; "" for a worker, which answers through the broker.
        logs: where it writes, the one that tells most last.
        encoder: of a worker; there is one worker for each.
    """

    name: str
    url: str
    process: Process
    logs: tuple[Path, ...]
    encoder: str = ""

    @property
    def log(self) -> Path:
        """The log that tells most."""
        return self.logs[-1]


def wait_until_ready(service: Service, ready: Callable[[], bool], *, timeout_s: float) -> Service:
    """The service, once `ready` says so; where it never does, the service is ended.

    Raises:
        ServiceDied: it ended, or wasn't ready in time; the message holds its last lines.
    """
    deadline = time.monotonic() + timeout_s
    try:
        while not ready():
            if not service.process.alive():
                raise ServiceDied(f"{service.name} ended while starting. {_said(service)}")
            if time.monotonic() > deadline:
                raise ServiceDied(f"{service.name} wasn't ready within {timeout_s:.0f} s. {_said(service)}")
            time.sleep(POLL_S)
    except BaseException:
        stop(service.process)
        raise
    return service


def _said(service: Service) -> str:
    return f"Its log is {service.log}; what it said last:\n{last_lines(service.logs)}"
