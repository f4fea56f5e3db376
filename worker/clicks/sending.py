"""Sending commands to Redis without waiting for the answer of one to send the next.

While Redis works on one script, the next is made ready: what the client does costs no time then. All commands
take one connection, so Redis runs them in the order in which they were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from redis import Redis


class Commands(Protocol):
    """Commands, answered in their order."""

    def send(self, *command: Any) -> None:
        """Send a command. A script goes whole (EVAL): that Redis lost it would be told too late."""

    def answer(self) -> Any:
        """The answer to the first command that has none yet; waits for it.

        Raises:
            RedisError: the command failed.
        """


@contextmanager
def commands(redis: Any) -> Iterator[Commands]:
    """Commands of a client; those without an answer at the end are given up, whether they run or not.

    Args:
        redis: a client; one of a cluster waits for each command.
    """
    if not isinstance(redis, Redis):
        yield _OneByOne(redis)
        return
    known: Any = redis  # its types don't say what this gives
    with known.client() as client:  # holds one connection
        sending = _Sending(client)
        try:
            yield sending
        finally:
            if sending.waiting:  # the next who takes the connection would read their answers as its own
                client.connection.disconnect()


class _Sending:
    """On a connection of its own."""

    def __init__(self, client: Any) -> None:
        self.waiting = 0
        self._client = client

    def send(self, *command: Any) -> None:
        self.waiting += 1
        self._client.connection.send_command(*command)

    def answer(self) -> Any:
        found = self._client.connection.read_response()
        self.waiting -= 1
        return found


class _OneByOne:
    """By a client that has no connection of its own."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis
        self._answers: deque[Any] = deque()

    def send(self, *command: Any) -> None:
        self._answers.append(self._redis.execute_command(*command))

    def answer(self) -> Any:
        return self._answers.popleft()
