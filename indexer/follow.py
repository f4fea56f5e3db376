"""Queue what is pending in one vector field, and wait until it is written.

What a worker did is read from the index, never from a queue: so nothing depends on a message's arriving once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.attached import require_attached
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import HintsUndelivered
from trifuse.indexer.followed import Followed, no_worker, unmoved
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.leases import Leases
from trifuse.indexer.reading import PATIENT
from trifuse.indexer.retry import Retry
from trifuse.indexer.scan import Pending, scan
from trifuse.indexer.verdicts import judge

CHECKED = 256
"""Documents that are looked at in one go: the oldest that were queued, which should be written first."""

ANSWER_S = 2.0
"""Where OpenSearch takes longer to answer it was away."""


class Patience(msgspec.Struct, frozen=True):
    """How `sync` waits.

    Args:
        lease_s: a document that isn't written so long after the last sign of progress is queued again.
        stall_s: waiting ends where nothing was written for so long.
        notice_s: where nothing was written for so long, it is told once if no worker listens.
        silence_s: where nothing was written for so long, waiting ends if no worker listens.
        poll_s, longest_poll_s: pause between two looks at the index, each of which costs it a refresh; the
            pause grows from the one to the other, as a twentieth of the time waited so far.
        window: documents that are queued and not yet written, at most.
        retry: how often a look at the index is tried again where OpenSearch doesn't answer.
        clock, sleep: seconds, and waiting for them.
    """

    lease_s: float = 60.0
    stall_s: float = 180.0
    notice_s: float = 3.0
    silence_s: float = 15.0
    poll_s: float = 0.25
    longest_poll_s: float = 1.0
    window: int = 2_048
    retry: Retry = PATIENT
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


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
        FieldDetached: the field was taken out of use meanwhile, by `trifuse detach` for one.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    follower = Follower(client, target, enqueue, patience, listening, progress)
    while follower.look(scan(client, target, retry=patience.retry)):
        pass
    return follower.seen


class Follower:
    """A bounded number of documents under way, and what was seen of them.

    Whoever finds documents gives them to it: `look` waits for all of them, `step` never waits.
    """

    def __init__(
        self,
        client: OpenSearch,
        target: EmbeddedField,
        enqueue: Enqueue,
        patience: Patience,
        listening: Callable[[Space], bool] | None,
        progress: Callable[[Followed], None] | None = None,
    ) -> None:
        self._client = client
        self._target = target
        self._enqueue = enqueue
        self._patience = patience
        self._listening = listening
        self._progress = progress
        self._leases = Leases(patience.lease_s)
        self._away_s = 0.0
        self._began = self._asked_at = self._now()
        self._undelivered = ""
        self._noticed = progress is None  # nobody is there to be told
        self._this_look = 0  # a hash of the documents that it found, in their versions
        self.seen = Followed()

    @property
    def under_way(self) -> int:
        """Documents that are queued and not known to be done."""
        return len(self._leases)

    @property
    def undelivered(self) -> str:
        """Why the last hints didn't reach the broker; "" where they did."""
        return self._undelivered

    @property
    def waited_s(self) -> float:
        """Seconds that a document under way has waited since it was first queued, at most."""
        return self._leases.longest_s(self._now())

    def look(self, found: Iterator[Pending]) -> bool:
        """Queue what one look at the index finds, and wait for it; whether another look makes sense.

        Raises:
            FieldDetached: it was taken out of use meanwhile.
        """
        before, last_look = self.seen.found, self._this_look
        self._this_look = 0
        more = True
        while more or len(self._leases):
            more, busy = self.step(found)
            if busy:
                continue  # more may be done than were looked at
            if self.seen.stalled:
                return False
            if len(self._leases):
                require_attached(self._client, self._target, retry=self._patience.retry)
                self._patience.sleep(self._pause_s(self._now()))
        found_now = self.seen.found - before
        if found_now and self._this_look == last_look:
            self.seen.stalled = unmoved(found_now, self._target)
            return False
        return found_now > 0

    def step(self, found: Iterator[Pending]) -> tuple[bool, bool]:
        """Queue what there is room for, and see what is done: whether more may be found, and more be done."""
        more = self._fill(found)
        busy = self._check() == CHECKED
        if not busy:
            now = self._now()
            self._queue(list(self._leases.expired(now)))
            self.seen.stalled = self._stalled(now)
        return more, busy

    def _fill(self, found: Iterator[Pending]) -> bool:
        """Queue as much as may be under way; whether there may be more."""
        room = max(0, self._patience.window - len(self._leases))
        fresh = list(islice(found, room))
        more = len(fresh) == room
        fresh = [item for item in fresh if not self._leases.holds(item)]
        self.seen.found += len(fresh)
        self._this_look += sum(hash((item.hint, item.seq_no)) for item in fresh)
        self._queue(fresh)
        return more

    def _queue(self, items: Sequence[Pending]) -> None:
        if not items:
            return
        target = self._target
        self._leases.add(items, self._now())
        try:
            self._enqueue(target.index, target.field, target.space, [item.hint for item in items])
            self._undelivered = ""
        except HintsUndelivered as error:
            # A broker that is restarted comes back: the leases end, and the same is tried again.
            self._undelivered = str(error)

    def _check(self) -> int:
        """How many of the oldest documents are done."""
        asked_at = self._patience.clock()
        verdicts = judge(self._client, self._target, self._leases.oldest(CHECKED), retry=self._patience.retry)
        self._away_s += max(0.0, self._patience.clock() - asked_at - ANSWER_S)
        if verdicts:
            self.seen.waiting = ""
            self.seen.count(verdicts.values())
            self._leases.written(verdicts, self._now())
            if self._progress is not None:
                self._progress(self.seen)
        return len(verdicts)

    def _pause_s(self, now: float) -> float:
        """Seconds until the next look: the longer it takes, the less a look that comes later matters."""
        patience = self._patience
        return max(patience.poll_s, min(patience.longest_poll_s, (now - self._began) / 20))

    def _now(self) -> float:
        """Seconds, without those in which OpenSearch was away: workers had no chance then either."""
        return self._patience.clock() - self._away_s

    def _stalled(self, now: float) -> str:
        """Why there is no sense in waiting any longer; "" where there is."""
        idle_s, target = self._leases.idle_s(now), self._target
        if idle_s >= self._patience.stall_s:
            return self._undelivered or (
                f"none of the {len(self._leases)} documents that were queued for the index {target.index!r} "
                f"was written for {idle_s:.0f} s: see the workers' log, which `trifuse status` names"
            )
        if not self._noticed and idle_s >= self._patience.notice_s:
            self._noticed = True
            self.seen.waiting = self._nobody()
            if self._progress is not None and self.seen.waiting:
                self._progress(self.seen)
        if min(idle_s, now - self._asked_at) < self._patience.silence_s:
            return ""
        self._asked_at = now
        return self._nobody()

    def _nobody(self) -> str:
        """Why nobody does what was queued, as far as it can be told from here."""
        if self._undelivered or self._listening is None or self._listening(self._target.space):
            return self._undelivered
        return no_worker(self._target.space)
