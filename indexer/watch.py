"""Keep an index's vectors true for as long as it lives: changes are seen within seconds, by `_seq_no`.

It is `sync` without an end: the same scan, the same leases, the same judgement of what is done. What is
added is reading what was written since the last look, and outliving restarts of everything around it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from time import monotonic

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import OpenSearchException

from trifuse.encoder.errors import TrifuseError
from trifuse.encoder.spaces import Space
from trifuse.indexer.cursors import read_shards
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.errors import IndexMissing
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.reading import refresh
from trifuse.indexer.retry import Retry
from trifuse.indexer.upkeep import restore_all, targets_of
from trifuse.indexer.watch_beside import Beside, said
from trifuse.indexer.watch_target import WatchedField
from trifuse.indexer.watched import NOTHING, Watched, counts_of, summed, without_lag

SCAN_S = 300.0
"""How often everything is looked through again, for what no reading of changes can find."""

_BRIEF = Retry(retries=1)
_Key = tuple[str, str, str]


def watch(
    client: OpenSearch,
    index: str,
    enqueue: Enqueue,
    *,
    stop: threading.Event,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    interval_s: float = 2.0,
    scan_s: float = SCAN_S,
    listening: Callable[[Space], bool] | None = None,
    progress: Callable[[Watched], None] | None = None,
    say: Callable[[str], None] | None = None,
) -> Watched:
    """Queue what lacks its vector, whenever it comes to lack it, until `stop` is set.

    An index that is deleted, made again, or that an alias no longer points to is noticed within an interval.

    Args:
        stop: ends it.
        patience: how long leases are, and how much may be under way in a field.
        interval_s: seconds between two looks for changes, each of which refreshes an index that changed.
        scan_s: seconds between two looks at everything.
        listening: tells whether a worker takes the tasks of a space.
        progress: told the counts, once an interval.
        say: told what is in the way, once, and when it is over.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: the index can't be watched as it is at the start.
        OpenSearchException, ServerUnavailable: OpenSearch isn't there at the start.
    """
    targets_of(client, index)
    restore_all(client, index)
    watcher = _Watcher(client, index, enqueue, patience, scan_s, listening, say or (lambda text: None))
    next_look = 0.0
    with Beside(client, index, interval_s) as beside:
        while not stop.is_set():
            if monotonic() >= next_look:
                next_look = monotonic() + interval_s
                watcher.look(beside.trouble)
                if progress is not None:
                    progress(watcher.counts())
            else:
                watcher.work(beside.trouble)
            if not watcher.busy:
                pause = min(patience.poll_s, interval_s) if watcher.waiting else interval_s
                stop.wait(max(0.0, min(pause, next_look - monotonic())))
    return watcher.counts()


class _Watcher:
    """The fields under watch, and what is in the way."""

    def __init__(
        self,
        client: OpenSearch,
        index: str,
        enqueue: Enqueue,
        patience: Patience,
        scan_s: float,
        listening: Callable[[Space], bool] | None,
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._index = index
        self._enqueue = enqueue
        # It outlives outages itself, and says so soon.
        self._patience = msgspec.structs.replace(patience, retry=_BRIEF)
        self._scan_s = scan_s
        self._listening = listening
        self._say = say
        self._fields: dict[_Key, WatchedField] = {}
        self._over = NOTHING
        self._trouble: tuple[str, ...] = ()
        self._scanned_at = monotonic()
        self.busy = False

    @property
    def waiting(self) -> bool:
        """Whether documents are under way."""
        return any(field.follower.under_way for field in self._fields.values())

    def look(self, beside: Sequence[str]) -> None:
        """See which indexes there are, read what was written in them, and work on."""
        self._guarded(self._look, beside)

    def work(self, beside: Sequence[str]) -> None:
        """Queue what there is room for, and see what is done; `beside`: what others say is in the way."""
        self._guarded(self._work, beside)

    def counts(self) -> Watched:
        """What was seen so far."""
        return summed([self._over, *map(counts_of, self._fields.values())])

    def _guarded(self, act: Callable[[], None], beside: Sequence[str]) -> None:
        """Outlive whatever OpenSearch answers: say it once, begin again from a scan when it is over."""
        self.busy = False
        try:
            act()
        except (TrifuseError, OpenSearchException) as error:
            for field in self._fields.values():
                field.scan_again()
            self._tell((said(error),))
            return
        stalled = [field.trouble for field in self._fields.values() if field.trouble]
        self._tell(tuple(dict.fromkeys([*stalled, *beside])))

    def _look(self) -> None:
        try:
            targets = targets_of(self._client, self._index)
        except IndexMissing:
            self._keep_only(())
            raise
        shards = {name: read_shards(self._client, name, retry=_BRIEF) for name in {t.index for t in targets}}
        self._keep_only(targets)
        for target in targets:
            if _key(target) not in self._fields:
                self._fields[_key(target)] = WatchedField(
                    self._client, target, self._enqueue, self._patience, self._listening, shards[target.index]
                )
        moved = [f for f in self._fields.values() if f.moved(shards[f.target.index])]
        for name in {field.target.index for field in moved}:
            refresh(self._client, name, retry=_BRIEF)
        for field in moved:
            field.read_changes()
        if monotonic() - self._scanned_at >= self._scan_s:
            self._scanned_at = monotonic()
            for field in self._fields.values():
                if not field.scanning:
                    field.scan_again()
        self._work()

    def _work(self) -> None:
        for field in self._fields.values():
            self.busy |= field.step()

    def _keep_only(self, targets: Sequence[EmbeddedField]) -> None:
        """Let go of fields that are gone: deleted, made anew, or of an index the alias points to no more."""
        for key in self._fields.keys() - {_key(target) for target in targets}:
            gone = self._fields.pop(key)
            self._say(f"the index {gone.target.index!r} ({gone.target.field}) isn't looked after any more")
            self._over = summed([self._over, without_lag(counts_of(gone))])

    def _tell(self, trouble: tuple[str, ...]) -> None:
        for text in trouble:
            if text not in self._trouble:
                self._say(text)
        if self._trouble and not trouble:
            self._say("all is well again")
        self._trouble = trouble


def _key(target: EmbeddedField) -> _Key:
    """A later index of the same name is another one, and so is a field in another space."""
    return target.uuid, target.field, target.space.id
