"""Batches under way at once, and how large each may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from trifuse.encoder.description import Precision
from trifuse.encoder.devices import Device
from trifuse.encoder.threads import Threads

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
    """Batches in threads of this process.

    One batch a thread is faster than one batch on all threads: nothing waits for its neighbour.

    Args:
        device: a GPU takes one batch at a time.
        threads: batches under way at once on the CPU; None: as many as this process may use.
    """

    def __init__(self, device: Device, threads: int | None = None) -> None:
        many = 1 if device.cuda is not None else threads or len(os.sched_getaffinity(0))
        self._threads = Threads(many, "trifuse-encoder")

    def map(self, work: Callable[[_In], _Out], items: Iterable[_In]) -> Iterator[_Out]:
        """The results, in the order of the items."""
        return self._threads.map(work, items)
