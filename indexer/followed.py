"""What was seen while documents were waited for, and what is said of a wait that ends early."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.hints import queue_name
from trifuse.indexer.verdicts import Verdict


class Followed(msgspec.Struct):
    """What was seen while waiting.

    Args:
        found: documents that were found pending and queued.
        embedded, emptied, failed, gone: what became of them.
        waiting: why nothing may be moving yet; "" where nothing is known to be in the way.
        stalled: why waiting ended early; "" where it didn't.
    """

    found: int = 0
    embedded: int = 0
    emptied: int = 0
    failed: int = 0
    gone: int = 0
    waiting: str = ""
    stalled: str = ""

    def count(self, verdicts: Iterable[Verdict]) -> None:
        """Add documents that are done."""
        for verdict in verdicts:
            setattr(self, verdict, getattr(self, verdict) + 1)

    @property
    def done(self) -> int:
        """Documents that need no waiting for any more."""
        return self.embedded + self.emptied + self.failed + self.gone


def unmoved(count: int, target: EmbeddedField) -> str:
    """What to say where a look finds what the one before found, in the same versions, though all was done."""
    return (
        f"{count} documents of the index {target.index!r} are pending in spite of all that workers do: "
        "their ids and routings lead to other documents (half a surrogate pair in them?)"
    )


def no_worker(space: Space) -> str:
    """What to say where nobody takes a space's tasks."""
    return (
        f"no worker is listening on the queue {queue_name(space.encoder)!r}: start one with "
        f"`trifuse up --encoder {space.encoder.encoder}`, or with "
        f"`TRIFUSE_ENCODER={space.encoder.encoder} celery -A trifuse.worker.app worker`"
    )
