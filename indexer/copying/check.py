"""What keeps a copy from being switched to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from opensearchpy import OpenSearch

from trifuse.indexer.copying.copies import Copy, Rejected, read_reached
from trifuse.indexer.copying.fill import count_documents
from trifuse.indexer.cursors import read_shards
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.scan import scan

_NAMED = 5
_COUNTED = 10_000


def faults_of(client: OpenSearch, copy: Copy) -> list[str]:
    """What keeps the copy from being switched to, in words; nothing where it is complete.

    It is complete where it has every document of its source, and each of them has its vector, has no text, or
    is known to fail.
    """
    return content_faults(client, copy) + _vector_faults(client, copy)


def content_faults(client: OpenSearch, copy: Copy) -> list[str]:
    """What the copy lacks of its source's documents."""
    client.indices.refresh(index=f"{copy.source},{copy.index}")
    reached = read_reached(client, copy)
    faults = [_named(reached.rejected)] if reached.rejected else []
    behind = sum(
        shard.checkpoint - seq_no if history == shard.history else shard.checkpoint + 1
        for shard in read_shards(client, copy.source)
        for history, seq_no in [reached.shards.get(str(shard.number), ("", -1))]
    )
    if behind > 0:
        faults.append(
            f"{behind:,} writes of {copy.source!r} are still to be copied: `trifuse sync` copies them"
        )
    there, here = count_documents(client, copy.source), count_documents(client, copy.index)
    if not behind and there != here + len(reached.rejected):
        faults.append(f"{copy.source!r} has {there:,} documents, and its copy {copy.index!r} has {here:,}")
    return faults


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
    return [f"{least}{pending:,} documents of {copy.index!r} lack their vector: `trifuse sync --wait`"]
