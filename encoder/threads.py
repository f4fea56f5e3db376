"""Threads of this process, for work that goes on beside."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Threads:
    """A pool of threads, started as they are needed; safe to share by threads.

    A process that was forked since starts its own: of the parent's there are none in it. They end with
    `close`, with the object, or with the process.

    Args:
        most: at once.
        name: of each.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name = most, name
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def submit(self, work: Callable[[], Result]) -> Future[Result]:
        """Start work, once there is a thread for it.

        Raises:
            RuntimeError: no thread can be started.
        """
        return self._pool().submit(work)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results, in the order of the items.

        Raises:
            RuntimeError: no thread can be started.
        """
        return self._pool().map(work, items)

    def ahead(self, work: Callable[[], Result]) -> Callable[[], Result]:
        """Start work whose result is needed later; what gives it does the work itself where no thread can."""
        try:
            return self.submit(work).result
        except RuntimeError:
            return work

    def close(self) -> None:
        """End the threads, after what they do. Later work starts new ones."""
        pool = self._pools.pop(os.getpid(), None)
        if pool is not None:
            pool.shutdown()

    def _pool(self) -> ThreadPoolExecutor:
        process = os.getpid()
        pool = self._pools.get(process)
        if pool is None:
            # Of two threads that get here at once one's pool is kept; the other's has no threads yet.
            pool = self._pools.setdefault(process, ThreadPoolExecutor(self._most, self._name))
        return pool
