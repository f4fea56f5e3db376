"""One vector field under watch: what was pending at the start, and what is written from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.cursors import Shard
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.follow import Follower, Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.scan import Pending, changed, scan


class WatchedField:
    """A vector field, how far its shards were read, and the documents under way.

    A scan finds what was pending before, however long ago; what is written later is found by `_seq_no`, and
    goes first. The scan keeps its own cursor in the state index, behind everything that isn't embedded yet:
    whoever watches next begins there.
    """

    def __init__(
        self,
        client: OpenSearch,
        target: EmbeddedField,
        enqueue: Enqueue,
        patience: Patience,
        listening: Callable[[Space], bool] | None,
        shards: Sequence[Shard],
    ) -> None:
        self.target = target
        self.follower = Follower(client, target, enqueue, patience, listening)
        self.read = 0
        self._stalled = ""
        self.scanning = False
        self._client = client
        self._retry = patience.retry
        self._shards = list(shards)
        # The scan sees all that was written up to here.
        self._reached = {str(shard.number): (shard.history, shard.checkpoint) for shard in shards}
        self._changes: Iterator[Pending] = iter(())
        self._reading = False
        self._backlog: Iterator[Pending] = iter(())
        self.scan_again()

    def scan_again(self) -> None:
        """Look for everything that is pending, once more."""
        self._backlog = self._scan()

    def moved(self, shards: Sequence[Shard]) -> bool:
        """Take note of the shards as they are now; whether there is something new to read."""
        self._shards = list(shards)
        return not self._reading and self.lag > 0

    def read_changes(self) -> None:
        """Read on, up to the checkpoints noted last; the index must have been refreshed since."""
        self._reading = True
        self._changes = self._read(list(self._shards))

    @property
    def lag(self) -> int:
        """Operations that are written, and not read yet."""
        return sum(max(0, shard.checkpoint - shard.after(self._reached)) for shard in self._shards)

    def step(self) -> bool:
        """Queue what there is room for, and see what is done; whether more can be done at once."""
        done = self.follower.seen.done
        _, busy = self.follower.step(chain(self._changes, self._backlog))
        moves = self.follower.seen.done > done or not self.follower.under_way
        self._stalled = "" if moves else self._stalled or self.follower.seen.stalled
        return busy

    @property
    def trouble(self) -> str:
        """What is in the way, as it was first seen; "" where nothing is."""
        return self.follower.undelivered or self._stalled

    def _scan(self) -> Iterator[Pending]:
        self.scanning = True
        try:
            yield from scan(self._client, self.target, retry=self._retry)
        finally:
            self.scanning = False

    def _read(self, shards: Sequence[Shard]) -> Iterator[Pending]:
        try:
            for shard in shards:
                after = shard.after(self._reached)
                if after < shard.checkpoint:
                    yield from changed(self._client, self.target, shard, after, retry=self._retry)
                    self._reached[str(shard.number)] = (shard.history, shard.checkpoint)
                    self.read += shard.checkpoint - after
        finally:
            self._reading = False
