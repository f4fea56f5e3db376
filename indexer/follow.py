"""Queue what is pending in one vector field, and wait until it is written.

What a worker did is read from the index, never from a queue: so nothing depends on a message's arriving once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH, MARKS
from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.failures import read_failures
from trifuse.indexer.hints import Enqueue, queue_name
from trifuse.indexer.leases import Leases
from trifuse.indexer.pending import Mark, mark_of
from trifuse.indexer.reading import get_documents
from trifuse.indexer.scan import Pending, scan

CHECKED = 256
"""Documents that are looked at in one go: the oldest that were queued, which should be written first."""


class Patience(msgspec.Struct, frozen=True):
    """How `sync` waits.

    Args:
        lease_s: a document that isn't written so long after the last sign of progress is queued again.
        stall_s: waiting ends where nothing was written for so long.
        silence_s: where nothing was written for so long, it is asked whether any worker listens.
        poll_s: pause between two looks at the index.
        window: documents that are queued and not yet written, at most.
        clock, sleep: seconds, and waiting for them.
    """

    lease_s: float = 60.0
    stall_s: float = 180.0
    silence_s: float = 15.0
    poll_s: float = 0.25
    window: int = 1_024
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class Followed(msgspec.Struct):
    """What was seen while waiting.

    Args:
        found: documents that were found pending and queued.
        embedded, emptied, failed, gone: what became of them.
        stalled: why waiting ended early; "" where it didn't.
    """

    found: int = 0
    embedded: int = 0
    emptied: int = 0
    failed: int = 0
    gone: int = 0
    stalled: str = ""

    @property
    def done(self) -> int:
        """Documents that need no waiting for any more."""
        return self.embedded + self.emptied + self.failed + self.gone


def follow(
    client: OpenSearch,
    target: EmbeddedField,
    enqueue: Enqueue,
    *,
    patience: Patience,
    listening: Callable[[Space], bool] | None = None,
    progress: Callable[[Followed], None] | None = None,
) -> Followed:
    """Queue what is pending, wait for it, and look again, until a look finds nothing.

    Raises:
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    seen = Followed()
    while not seen.stalled:
        before = seen.found
        _Pass(client, target, enqueue, patience, listening, progress, seen).run()
        if seen.found == before:
            break
    return seen


class _Pass:
    """One look at the index, with a bounded number of documents under way."""

    def __init__(
        self,
        client: OpenSearch,
        target: EmbeddedField,
        enqueue: Enqueue,
        patience: Patience,
        listening: Callable[[Space], bool] | None,
        progress: Callable[[Followed], None] | None,
        seen: Followed,
    ) -> None:
        self._client = client
        self._target = target
        self._enqueue = enqueue
        self._patience = patience
        self._listening = listening
        self._progress = progress
        self._seen = seen
        self._leases = Leases(patience.lease_s, patience.clock())
        self._asked_at = patience.clock()
        self._undelivered = ""

    def run(self) -> None:
        found = scan(self._client, self._target)
        listed = True
        while listed or len(self._leases):
            listed = self._fill(found)
            done = self._check()
            if done and self._progress is not None:
                self._progress(self._seen)
            if done == CHECKED:
                continue  # more may be done than were looked at
            now = self._patience.clock()
            self._queue(list(self._leases.expired(now)))
            self._seen.stalled = self._stalled(now)
            if self._seen.stalled:
                return
            if len(self._leases):
                self._patience.sleep(self._patience.poll_s)

    def _fill(self, found: Iterator[Pending]) -> bool:
        """Queue as much as may be under way; whether there may be more."""
        room = self._patience.window - len(self._leases)
        fresh = list(islice(found, room))
        self._seen.found += len(fresh)
        self._queue(fresh)
        return room == 0 or len(fresh) == room

    def _queue(self, items: Sequence[Pending]) -> None:
        if not items:
            return
        self._leases.add(items, self._patience.clock())
        try:
            self._enqueue(
                self._target.index, self._target.field, self._target.space, [item.hint for item in items]
            )
            self._undelivered = ""
        except HintsUndelivered as error:
            # A broker that is restarted comes back: the leases end, and the same is tried again.
            self._undelivered = str(error)

    def _check(self) -> int:
        """How many of the oldest documents are done."""
        oldest = self._leases.oldest(CHECKED)
        verdicts = judge(self._client, self._target, oldest)
        for name in verdicts.values():
            setattr(self._seen, name, getattr(self._seen, name) + 1)
        self._leases.written(verdicts, self._patience.clock())
        return len(verdicts)

    def _stalled(self, now: float) -> str:
        """Why there is no sense in waiting any longer; "" where there is."""
        idle_s, space = self._leases.idle_s(now), self._target.space
        if idle_s >= self._patience.stall_s:
            return self._undelivered or (
                f"none of the {len(self._leases)} documents that were queued for the index "
                f"{self._target.index!r} was written for {idle_s:.0f} s: see the workers' log, which "
                "`trifuse status` names"
            )
        silent = min(idle_s, now - self._asked_at) >= self._patience.silence_s
        if silent and self._undelivered:
            return self._undelivered
        if silent and self._listening is not None:
            self._asked_at = now
            if not self._listening(space):
                return no_worker(space)
        return ""


def no_worker(space: Space) -> str:
    """What to say where nobody takes a space's tasks."""
    return (
        f"no worker is listening on the queue {queue_name(space.encoder)!r}: start one with `trifuse up`, or "
        f"with `TRIFUSE_ENCODER={space.encoder.encoder} celery -A trifuse.worker.app worker`"
    )


def judge(client: OpenSearch, target: EmbeddedField, items: Sequence[Pending]) -> dict[str, str]:
    """What became of queued documents: id to a count of `Followed`; those still to be done are left out."""
    wanted = [
        {
            "_id": item.id,
            "_source": [f"{MARKS}.fields.{target.field}"],
            **({} if item.routing is None else {"routing": item.routing}),
        }
        for item in items
    ]
    verdicts: dict[str, str] = {}
    open_items: list[Pending] = []
    for item, found in zip(items, get_documents(client, target.index, wanted), strict=True):
        if not found.get("found"):
            verdicts[item.id] = "gone"
            continue
        mark = mark_of(found.get("_source", {}), target.field)
        if mark is not None and is_written(item, mark, found["_seq_no"], target.space):
            verdicts[item.id] = "emptied" if mark.hash == EMPTY_HASH else "embedded"
        else:
            open_items.append(item)
    known = read_failures(client, target, [item.id for item in open_items])
    for item in open_items:
        failed = known.get(item.id)
        if failed is not None and failed.space == target.space.id and failed.mark != item.failed:
            verdicts[item.id] = "failed"
    return verdicts


def is_written(item: Pending, mark: Mark, seq_no: int, space: Space) -> bool:
    """Whether the document was embedded since it was found pending.

    What was missing may carry the right mark already, without a vector: then a newer version tells.
    """
    if mark.space != space.id or seq_no == item.seq_no:
        return False
    return item.state == "missing" or mark != item.mark
