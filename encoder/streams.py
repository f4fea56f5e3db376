"""Batches under way at once, and how large each may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from trifuse.encoder.description import Precision
from trifuse.encoder.devices import Device

CPU_TOKEN_BUDGET = 512
"""Padded tokens in a batch: what a core's caches hold."""

CUDA_TOKEN_BUDGET = 16_384
"""Padded tokens in a batch: what keeps a GPU busy."""

WINDOW = 1024
"""Texts that are tokenised, and sorted by length, at a time."""

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def default_budget(precision: Precision, device: Device) -> int:
    """Padded tokens in a batch at most, for a model on a device."""
    # A dynamically quantised graph scales its activations over the whole batch: with neighbours, a text's
    # vector moves to a cosine of 0.99. Alone, it depends on nothing but the text.
    if precision == "int8":
        return 1
    return CPU_TOKEN_BUDGET if device.cuda is None else CUDA_TOKEN_BUDGET


class Streams:
    """A pool of threads of this process: after a fork the parent's has no threads here.

    One batch a thread is faster than one batch on all threads: nothing waits for its neighbour.

    Args:
        device: a GPU takes one batch at a time.
        threads: batches under way at once on the CPU; None: as many as this process may use.
    """

    def __init__(self, device: Device, threads: int | None = None) -> None:
        self._many = 1 if device.cuda is not None else threads or len(os.sched_getaffinity(0))
        self._pools: dict[int, ThreadPoolExecutor] = {}

    def map(self, work: Callable[[_In], _Out], items: Iterable[_In]) -> Iterator[_Out]:
        """The results, in the order of the items."""
        process = os.getpid()
        pool = self._pools.get(process)
        if pool is None:
            # Of two threads that get here at once one's pool is kept; the other's has no threads yet.
            pool = self._pools.setdefault(process, ThreadPoolExecutor(self._many, "trifuse-encoder"))
        return pool.map(work, items)
