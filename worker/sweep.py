"""The sweep: every index with vectors is looked through now and then, and what lacks its vector is queued.

It makes up for messages that were lost, and for documents that others wrote. It queues nothing for workers
that still have something to do: what is pending stays so, and the next sweep finds it.

A large index, its sentences or its copy take long. So a sweep works for a slice of time, and goes on in the
next: a worker with one process embeds in between.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import companions, embedded_fields, embedded_indexes
from trifuse.indexer.hints import Enqueue, Hint, queue_name
from trifuse.indexer.sync import queue_pending

logger = logging.getLogger(__name__)

SWEEP_TASK = "trifuse.sweep"
SLICE_S = 5.0
"""How long a sweep works at a time, about: until the page that is under way then is done."""


class SweepReport(msgspec.Struct, frozen=True):
    """What a slice of a sweep did, by the names of the indexes.

    Args:
        swept: were looked through, with how many documents were queued.
        busy: were left for the next sweep: the queues of all their spaces still hold messages.
        failed: couldn't be looked through, each with the reason.
        todo: are left for the next slice.
        took_s: seconds.
    """

    swept: dict[str, int]
    busy: tuple[str, ...]
    failed: dict[str, str]
    todo: tuple[str, ...]
    took_s: float


class _SliceOver(Exception):
    """The time is up."""


def sweep(
    client: OpenSearch,
    enqueue: Enqueue,
    waiting: Callable[[str], int],
    *,
    names: Sequence[str] | None = None,
    slice_s: float = SLICE_S,
    clock: Callable[[], float] = time.monotonic,
) -> SweepReport:
    """Queue what is pending in every index with vectors; one that fails doesn't stop the others.

    Args:
        enqueue: queues documents.
        waiting: how many messages wait in a queue; asked once for each, before anything is queued.
        names: the indexes that an earlier slice has left; None takes all, in an order of chance, so that none
            always comes last.
        slice_s: what isn't done after so many seconds is left.

    Raises:
        TransportError: OpenSearch doesn't say which indexes there are.
        HintsUndelivered: by `waiting`, where the broker can't be reached.
    """
    began = clock()

    def between() -> None:
        if clock() - began >= slice_s:
            raise _SliceOver

    busy = _Busy(waiting)
    swept: dict[str, int] = {}
    left: list[str] = []
    failed: dict[str, str] = {}
    found = _own_indexes(client) if names is None else list(names)
    todo = random.sample(found, len(found)) if names is None else found
    while todo:
        name, *todo = todo
        counted = _Counted(enqueue)
        try:
            if all(busy(field.space) for field in embedded_fields(client, name)):
                left.append(name)
            else:
                queue_pending(client, name, counted, busy=busy, between=between)
                swept[name] = counted.queued
            between()
        except _SliceOver:
            if name not in swept and name not in left:
                todo.append(name)  # others aren't to wait for a large one
            break
        except (OpenSearchException, TrifuseError) as error:
            logger.warning("the index %r was left out of the sweep: %s", name, error)
            failed[name] = str(error)
    return SweepReport(swept, tuple(left), failed, tuple(todo), clock() - began)


class _Busy:
    """Whether a space's queue held messages when it was first asked for."""

    def __init__(self, waiting: Callable[[str], int]) -> None:
        self._waiting = waiting
        self._known: dict[str, bool] = {}

    def __call__(self, space: Space) -> bool:
        queue = queue_name(space.encoder)
        if queue not in self._known:
            self._known[queue] = self._waiting(queue) > 0
        return self._known[queue]


class _Counted:
    """Queues, and counts."""

    def __init__(self, enqueue: Enqueue) -> None:
        self._enqueue = enqueue
        self.queued = 0

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        self._enqueue(index, field, space, ids)
        self.queued += len(ids)


def _own_indexes(client: OpenSearch) -> list[str]:
    """The indexes with vectors, without those that a sync of another one looks through as well."""
    names = embedded_indexes(client)
    others = _companions(client, names)
    return [name for name in names if name not in others]


def _companions(client: OpenSearch, names: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        try:
            found.update(companions(client, name))
        except NotFoundError:  # deleted meanwhile
            continue
    return found
