"""What a watch has seen: of one vector field, and of all together."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from trifuse.indexer.watch_target import WatchedField


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen since the watch began, in all vector fields that it looks after.

    Args:
        seen: operations that were read: writes of owners and of workers, and deletions.
        queued: documents that were found pending and queued.
        pending: those of them that aren't done yet.
        embedded, skipped, failed: what became of the others; skipped have no text, or were deleted.
        lag_operations: operations that are written, and not read yet.
        lag_s: seconds since the oldest pending document was queued first.
        indexes: the indexes looked after.
    """

    seen: int
    queued: int
    pending: int
    embedded: int
    skipped: int
    failed: int
    lag_operations: int
    lag_s: float
    indexes: tuple[str, ...]


NOTHING = Watched(
    seen=0, queued=0, pending=0, embedded=0, skipped=0, failed=0, lag_operations=0, lag_s=0.0, indexes=()
)


def counts_of(field: WatchedField) -> Watched:
    """What was seen in one vector field."""
    seen = field.follower.seen
    return Watched(
        seen=field.read,
        queued=seen.found,
        pending=field.follower.under_way,
        embedded=seen.embedded,
        skipped=seen.emptied + seen.gone,
        failed=seen.failed,
        lag_operations=field.lag,
        lag_s=round(field.follower.waited_s, 1),
        indexes=(field.target.index,),
    )


def summed(listed: Sequence[Watched]) -> Watched:
    """What was seen in several, the longest wait of all."""
    names = ("seen", "queued", "pending", "embedded", "skipped", "failed", "lag_operations")
    return Watched(
        **{name: sum(getattr(item, name) for item in listed) for name in names},
        lag_s=max(item.lag_s for item in listed),
        indexes=tuple(sorted({name for item in listed for name in item.indexes})),
    )


def without_lag(seen: Watched) -> Watched:
    """What remains of a field that is looked after no more."""
    return msgspec.structs.replace(seen, pending=0, lag_operations=0, lag_s=0.0, indexes=())
