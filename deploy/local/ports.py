"""Ports on this machine: free ones, and whether a given one is taken."""

from __future__ import annotations

import random
import socket

from trifuse.deploy.errors import PortInUse

HOST = "127.0.0.1"
SERVER_PORTS = range(10_000, 32_768)
"""Below what systems give to clients: from 32768 on Linux, from 49152 elsewhere."""


def is_free(port: int, host: str = HOST) -> bool:
    """Whether a server could listen there now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def free_port(*, prefer: int | None = None, host: str = HOST) -> int:
    """The preferred port where it is free, else any other.

    Not one of those that the system gives to clients: a client that reconnects to a service while that starts
    again could get the very port as its own.
    """
    if prefer and is_free(prefer, host):
        return prefer
    for port in random.sample(SERVER_PORTS, 64):
        if is_free(port, host):
            return port
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def require_free(port: int, *, service: str, option: str, variable: str, host: str = HOST) -> int:
    """The port. Raises PortInUse where something already listens there."""
    if not is_free(port, host):
        raise PortInUse(
            f"port {port} of {host} is in use, so {service} can't listen there: choose another with {option}"
            f" (0 picks a free one), or, if a {service} runs there already, use it: {variable}"
        )
    return port
