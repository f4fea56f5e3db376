"""The sweep: every index with vectors is looked through now and then, and what lacks its vector is queued.

It makes up for messages that were lost, and for documents that others wrote. It queues nothing for workers
that still have something to do: what is pending stays so, and the next sweep finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import companions, embedded_fields, embedded_indexes
from trifuse.indexer.hints import Enqueue, Hint, queue_name
from trifuse.indexer.sync import sync

logger = logging.getLogger(__name__)

SWEEP_TASK = "trifuse.sweep"


class SweepReport(msgspec.Struct, frozen=True):
    """What a sweep did, by the names of the indexes.

    Args:
        swept: were looked through, with how many documents were queued.
        busy: were left for the next sweep: the queues of all their spaces still hold messages.
        failed: couldn't be looked through, each with the reason.
    """

    swept: dict[str, int]
    busy: tuple[str, ...]
    failed: dict[str, str]


def sweep(client: OpenSearch, enqueue: Enqueue, waiting: Callable[[str], int]) -> SweepReport:
    """Queue what is pending in every index with vectors; one that fails doesn't stop the others.

    Args:
        enqueue: queues documents.
        waiting: how many messages wait in a queue; asked once for each, before anything is queued.

    Raises:
        TransportError: OpenSearch doesn't say which indexes there are.
        HintsUndelivered: by `waiting`, where the broker can't be reached.
    """
    busy = _Busy(waiting)
    swept: dict[str, int] = {}
    left: list[str] = []
    failed: dict[str, str] = {}
    for name in _own_indexes(client):
        counted = _Counted(enqueue, busy)
        try:
            if all(busy(field.space) for field in embedded_fields(client, name)):
                left.append(name)
                continue
            sync(client, name, counted)
        except (OpenSearchException, TrifuseError) as error:
            logger.warning("the index %r was left out of the sweep: %s", name, error)
            failed[name] = str(error)
        else:
            swept[name] = counted.queued
    return SweepReport(swept, tuple(left), failed)


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
    """Queues for spaces that aren't busy, and counts."""

    def __init__(self, enqueue: Enqueue, busy: _Busy) -> None:
        self._enqueue = enqueue
        self._busy = busy
        self.queued = 0

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        if not self._busy(space):
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
