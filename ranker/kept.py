"""What the server told, kept for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")

TTL_S = 5.0
MOST = 256


class Kept(Generic[Value]):
    """Answers by what was asked for; safe to share by threads, of which two may ask at once.

    Args:
        ttl_s: how long an answer is used.
        clock: seconds, for tests.
    """

    def __init__(self, *, ttl_s: float = TTL_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._ttl_s = ttl_s
        self._clock = clock
        self._kept: dict[Hashable, tuple[float, Value]] = {}

    def get(self, key: Hashable, read: Callable[[], Value], *, fresh: bool = False) -> Value:
        """The answer that is kept; or else, and always where it has to be fresh, the one that `read` gets.

        What `read` raises is raised, and nothing is kept of it.
        """
        now = self._clock()
        kept = self._kept.get(key)
        if kept and not fresh and now - kept[0] < self._ttl_s:
            return kept[1]
        value = read()
        if len(self._kept) >= MOST:
            self._kept.clear()
        self._kept[key] = (now, value)
        return value
