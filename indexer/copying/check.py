"""What keeps a copy from being switched to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from opensearchpy import OpenSearch

from trifuse.indexer.copying.copies import Copy, Reached, Rejected, read_reached
from trifuse.indexer.cursors import read_shards
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.reading import count_documents, refresh
from trifuse.indexer.scan import scan

FEW = 1_000
"""Writes of the source that a switch catches up with by itself."""

_NAMED = 5
_COUNTED = 10_000


def faults_of(client: OpenSearch, copy: Copy) -> list[str]:
    """What keeps the copy from being switched to, in words; nothing where it is complete.

    It is complete where it was filled, and each of its documents has its vector, has no text, or is known to
    fail. A few writes of its source may be to come: the switch catches up with these.
    """
    reached = read_reached(client, copy)
    faults = [_named(reached.rejected)] if reached.rejected else []
    behind = _behind(client, copy, reached)
    if behind is None:
        faults.append(f"{copy.source!r} isn't copied to the end: do the same again")
    elif behind > FEW:
        faults.append(f"{behind:,} writes of {copy.source!r} are still to be copied: `trifuse sync` does")
    return faults + _vector_faults(client, copy)


def content_faults(client: OpenSearch, copy: Copy) -> list[str]:
    """What the copy lacks of its source's documents, while these stand still."""
    for index in (copy.source, copy.index):
        refresh(client, index, must_exist=True)
    reached = read_reached(client, copy)
    if reached.rejected:
        return [_named(reached.rejected)]
    behind = _behind(client, copy, reached)
    if behind is None or behind:
        return [f"{copy.source!r} was written in spite of its write block: do the same again"]
    there, here = count_documents(client, copy.source), count_documents(client, copy.index)
    if there == here:
        return []
    return [
        f"{copy.source!r} has {there:,} documents, and its copy {copy.index!r} has {here:,}: something else "
        "writes into the copy; abandon it, and begin again"
    ]


def _behind(client: OpenSearch, copy: Copy, reached: Reached) -> int | None:
    """Writes of the source that aren't copied; None where some shard was never copied to an end.

    A shard that nothing was ever written to has no end.
    """
    behind = 0
    for shard in read_shards(client, copy.source):
        after = shard.after(reached.shards)
        if not reached.filled or after < 0 <= shard.latest:
            return None
        behind += max(0, shard.latest - after)
    return behind


def _named(rejected: Sequence[Rejected]) -> str:
    named = "; ".join(f"{item.id!r}: {item.reason}" for item in rejected[:_NAMED])
    more = f"; and {len(rejected) - _NAMED:,} more" if len(rejected) > _NAMED else ""
    return f"{len(rejected):,} documents aren't taken by the copy ({named}{more}): correct or delete them"


def _vector_faults(client: OpenSearch, copy: Copy) -> list[str]:
    target = embedded_field(client, copy.index, copy.field)
    pending = sum(1 for _ in islice(scan(client, target), _COUNTED))
    if not pending:
        return []
    least = "at least " if pending == _COUNTED else ""
    wait = f"`trifuse sync {copy.index} --wait`"
    return [f"{least}{pending:,} documents of {copy.index!r} lack their vector: {wait}"]
