"""The whole job: fill a copy, have it embedded, catch up, check, and switch."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.indexer.copying.check import faults_of
from trifuse.indexer.copying.copies import Copy, again
from trifuse.indexer.copying.fill import Caught, catch_up
from trifuse.indexer.copying.returning import settle_return
from trifuse.indexer.copying.switch import has_moved
from trifuse.indexer.copying.switch import switch as switch_to
from trifuse.indexer.errors import CopyRefused, CopyTaken
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.progress import Tell
from trifuse.indexer.sync import SyncReport, sync

_ROUNDS = 10
"""How often it is caught up and embedded before an owner who writes all the time is found too fast."""


class CopyReport(msgspec.Struct, frozen=True):
    """What a job did.

    Args:
        index: the copy.
        copied, deleted: documents written to it, and deleted from it.
        pending, embedded, skipped, failed: of its vectors, as `sync` tells them.
        switched: whether the alias stands for it.
        faults: what keeps it from being switched to.
    """

    index: str
    copied: int
    deleted: int
    pending: int
    embedded: int
    skipped: int
    failed: int
    switched: bool
    faults: tuple[str, ...] = ()


def complete(
    client: OpenSearch,
    copy: Copy,
    enqueue: Enqueue,
    *,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    listening: Callable[[Space], bool] | None = None,
    progress: Tell | None = None,
    switch: bool = True,
) -> CopyReport:
    """Fill a copy until it is complete, and switch to it; it may be interrupted, and run twice at once.

    Args:
        enqueue, patience, listening: as `sync` takes them.
        progress: told of documents copied, and of documents embedded.
        switch: whether to switch once it is complete.

    Raises:
        IndexMissing, CopyRefused, IndexBlocked: see `catch_up`.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    copy = settle_return(client, copy)  # till then it may take no vectors
    total, embedded, seen = Caught(), 0, SyncReport(0, 0, 0, 0)
    faults: list[str] = []
    if again(client, copy).standing.phase == "switching" and has_moved(client, copy):
        switch_to(client, copy)  # a process was killed in the moment after
    for _ in range(_ROUNDS):
        try:
            caught = catch_up(client, copy, progress=progress)
            total.written += caught.written
            total.deleted += caught.deleted
            seen = sync(
                client,
                copy.index,
                enqueue,
                wait=True,
                patience=patience,
                listening=listening,
                progress=progress,
            )
            embedded += seen.embedded
            faults = _end(client, copy, switch=switch)
        except CopyTaken:
            patience.sleep(patience.longest_poll_s)
            continue
        if not faults or seen.stalled or not _moving(caught, seen):
            break
    return CopyReport(
        index=copy.index,
        copied=total.written,
        deleted=total.deleted,
        pending=seen.pending,
        embedded=embedded,
        skipped=max(0, seen.embedded + seen.skipped - embedded),
        failed=seen.failed,
        switched=again(client, copy).standing.phase == "switched",
        faults=tuple(faults) if not seen.stalled else (seen.stalled, *faults),
    )


def _end(client: OpenSearch, copy: Copy, *, switch: bool) -> list[str]:
    """Switch, or see whether that could be done; what is in the way."""
    if again(client, copy).standing.phase == "switched":
        return []
    if not switch:
        return faults_of(client, copy)
    try:
        switch_to(client, copy)
    except CopyTaken:
        raise
    except CopyRefused as error:
        return [str(error)]
    return []


def _moving(caught: Caught, seen: SyncReport) -> bool:
    """Whether another round may find the copy complete: the owner has written meanwhile."""
    return bool(caught.written or caught.deleted or caught.lag or seen.embedded)
