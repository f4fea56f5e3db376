"""Which documents were queued, when, and which are to be queued again: no I/O, no clock of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from trifuse.indexer.hints import Hint
from trifuse.indexer.scan import Pending


class _Lease(NamedTuple):
    item: Pending
    queued_at: float
    first_at: float


class Leases:
    """Documents that were queued and aren't written yet, oldest first.

    A document is known by its id and its routing: two of one id may lie on two shards.

    A queue is worked off in order, so a document waits for all that were queued before it. Its lease runs
    from when it was queued, or from the last sign of progress if that is later.

    Args:
        lease_s: how long a document may stay unwritten without any progress before it is queued again.
    """

    def __init__(self, lease_s: float) -> None:
        self._lease_s = lease_s
        self._queued: dict[Hint, _Lease] = {}
        self._progress_at = 0.0

    def __len__(self) -> int:
        return len(self._queued)

    def add(self, items: Iterable[Pending], now: float) -> None:
        """Note what was queued; an item that was there already goes to the end."""
        if not self._queued:
            self._progress_at = now  # nobody was waiting until now
        for item in items:
            before = self._queued.pop(item.hint, None)
            known = before is not None and before.item.seq_no == item.seq_no
            self._queued[item.hint] = _Lease(item, now, before.first_at if before and known else now)

    def holds(self, item: Pending) -> bool:
        """Whether this very version of the document was queued, and isn't written yet."""
        held = self._queued.get(item.hint)
        return held is not None and held.item.seq_no == item.seq_no

    def oldest(self, count: int) -> list[Pending]:
        """Those that should be written first."""
        return [lease.item for lease in islice(self._queued.values(), count)]

    def written(self, hints: Iterable[Hint], now: float) -> None:
        """Note what needs no waiting for any more."""
        for hint in hints:
            if self._queued.pop(hint, None) is not None:
                self._progress_at = now

    def expired(self, now: float) -> Iterator[Pending]:
        """Those whose lease is over."""
        for lease in self._queued.values():
            if now - max(lease.queued_at, self._progress_at) >= self._lease_s:
                yield lease.item

    def idle_s(self, now: float) -> float:
        """Seconds of waiting since anything was written; 0 where nobody waits."""
        return now - self._progress_at if self._queued else 0.0

    def longest_s(self, now: float) -> float:
        """Seconds since one of them was first queued, in the version that waits; 0 where there is none."""
        return max((now - lease.first_at for lease in self._queued.values()), default=0.0)
