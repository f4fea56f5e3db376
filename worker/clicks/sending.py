"""Running one script again and again without waiting for one answer before the next call is sent.

While Redis works on one call, the next is made ready: what the client does costs no time then. All calls of
a `Calls` take one connection, so Redis runs them in the order in which they were sent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from redis import Redis


class Calls(Protocol):
    """Calls of a script, answered in their order."""

    def send(self, keys: Sequence[str], args: Sequence[bytes]) -> None:
        """Call the script."""

    def answer(self) -> Any:
        """What the first call that wasn't answered yet gave; waits for it.

        Raises:
            RedisError: it failed.
        """


@contextmanager
def calls(redis: Any, script: str) -> Iterator[Calls]:
    """Calls of a script; those that weren't answered at the end are given up.

    Args:
        redis: a client; one of a cluster waits for each call.
    """
    if not isinstance(redis, Redis):
        yield _OneByOne(redis, script)
        return
    with redis.client() as client:  # holds one connection
        sending = _Sending(client, script)
        try:
            yield sending
        finally:
            if sending.waiting:  # the next who takes the connection would read their answers as its own
                client.connection.disconnect()


class _Sending:
    """On a connection of its own."""

    def __init__(self, client: Any, script: str) -> None:
        self.waiting = 0
        self._client = client
        self._script = script

    def send(self, keys: Sequence[str], args: Sequence[bytes]) -> None:
        # The whole script, as one that Redis has lost since could be told only when others are under way.
        self.waiting += 1
        self._client.connection.send_command("EVAL", self._script, len(keys), *keys, *args)

    def answer(self) -> Any:
        found = self._client.parse_response(self._client.connection, "EVAL")
        self.waiting -= 1
        return found


class _OneByOne:
    """By a client that has no connection of its own."""

    def __init__(self, redis: Any, script: str) -> None:
        self._redis = redis
        self._script = script
        self._answers: deque[Any] = deque()

    def send(self, keys: Sequence[str], args: Sequence[bytes]) -> None:
        self._answers.append(self._redis.eval(self._script, len(keys), *keys, *args))

    def answer(self) -> Any:
        return self._answers.popleft()
