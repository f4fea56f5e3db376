"""Bring a copy in step with its source: the first time, and every time after that."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.indexer.copying.copies import Copy, Rejected, again, keep_reached, read_reached
from trifuse.indexer.copying.deletions import delete_missing
from trifuse.indexer.copying.mappings import give_mapping
from trifuse.indexer.copying.raw import RawHit, raw_documents, raw_pages, size_of
from trifuse.indexer.copying.writing import write_page
from trifuse.indexer.cursors import Shard, count_written, read_shards, settled_shards
from trifuse.indexer.errors import CopyRefused, IndexMissing
from trifuse.indexer.progress import Step, Tell
from trifuse.indexer.reading import PAGE_BYTES, count_documents, refresh

MOST_REJECTED = 1_000
"""A copy that refuses more documents than these is no copy of this index."""

_BATCH = 4_000
"""Documents that are written at a time, at most."""

_KEEP_S = 1.0
"""How often it is kept how far a pass has come; what was copied since is read again after an interruption."""

_WRITERS = 2
"""Bulk requests at a time: the server makes its own index while it waits for the next."""


class Caught(msgspec.Struct):
    """What one pass did.

    Args:
        written, unchanged: documents that were written, and that were as they should be.
        deleted: documents that the source has no more.
        lag: writes of the source that came while the pass ran.
    """

    written: int = 0
    unchanged: int = 0
    deleted: int = 0
    lag: int = 0


def catch_up(client: OpenSearch, copy: Copy, *, progress: Tell | None = None) -> Caught:
    """One pass: everything that was written to the source before it began, and deletions.

    It may be interrupted at any point, and run twice at once. A copy that was switched to is left alone.

    Raises:
        IndexMissing: the source or the copy is gone.
        CopyRefused: the source is another index by the same name, or the copy doesn't take its documents.
        CopyTaken: another process switches to the copy.
        IndexBlocked: the copy takes no writes.
    """
    copy = again(client, copy)
    if copy.standing.phase in ("switched", "returning"):
        return Caught()
    try:
        return _Pass(client, copy, progress).run()
    except NotFoundError as error:
        for name in (copy.source, copy.index):
            if not client.indices.exists(index=name):
                raise _missing(copy, name) from error
        raise


def _missing(copy: Copy, name: str) -> IndexMissing:
    remedy = (
        "begin it again" if name == copy.index else f"`trifuse reembed {copy.index} --abandon` deletes it"
    )
    return IndexMissing(f"the index {name!r} was deleted while it was copied to {copy.index!r}: {remedy}")


class _Pass:
    def __init__(self, client: OpenSearch, copy: Copy, progress: Tell | None) -> None:
        self._client = client
        self._copy = copy
        self._progress = progress
        self._reached = read_reached(client, copy)
        self._caught = Caught()
        self._keep_at = 0.0
        self._total = self._done = 0

    def run(self) -> Caught:
        client, copy = self._client, self._copy
        shards = settled_shards(client, copy.source)  # before the mapping: it covers all that these wrote
        self._notice_restored(shards)
        mapping = give_mapping(client, copy, self._reached.mapping)
        if mapping != self._reached.mapping:
            self._keep(mapping=mapping)
        refresh(client, copy.source, must_exist=True)
        starts = [(shard, shard.after(self._reached.shards)) for shard in shards]
        if self._progress is not None:
            self._total = sum(count_written(client, copy.source, shard, after) for shard, after in starts)
        for shard, after in starts:
            self._fill(shard, after)
        self._delete()
        if not self._reached.filled:
            self._keep(filled=True)
        later = read_shards(client, copy.source)
        reached = self._reached.shards
        self._caught.lag = sum(max(0, shard.checkpoint - shard.after(reached)) for shard in later)
        return self._caught

    def _notice_restored(self, shards: Sequence[Shard]) -> None:
        """Where a shard has another history, what is read now holds, and not what others read before."""
        reached = self._reached.shards
        known = (
            (shard.history, reached[str(shard.number)][0]) for shard in shards if str(shard.number) in reached
        )
        if any(history != before for history, before in known):
            self._keep(era=self._reached.era + 1)

    def _fill(self, shard: Shard, after: int) -> None:
        client, copy = self._client, self._copy
        fresh = str(shard.number) not in self._reached.shards
        pages = raw_pages(client, copy.source, shard, after=after)
        with ThreadPoolExecutor(_WRITERS + 1) as pool:
            for page in _read_ahead(pool, _batches(pages)):
                parts = [part for part in (page[start::_WRITERS] for start in range(_WRITERS)) if part]
                write = partial(write_page, client, copy, shard, era=self._reached.era, fresh=fresh)
                wrote = list(pool.map(write, parts))
                self._caught.written += sum(part.written for part in wrote)
                self._caught.unchanged += sum(part.unchanged for part in wrote)
                rejected = [item for part in wrote for item in part.rejected]
                self._reach(shard, page[-1].seq_no, page, sorted(rejected, key=lambda item: item.seq_no))
                self._done += len(page)
                if self._progress is not None:
                    self._progress(Step("copying", copy.index, max(self._total, self._done), self._done))
        if after < shard.checkpoint:
            self._keep(shards=self._shards(shard, shard.checkpoint))

    def _shards(self, shard: Shard, seq_no: int) -> dict[str, tuple[str, int]]:
        return {**self._reached.shards, str(shard.number): (shard.history, seq_no)}

    def _reach(self, shard: Shard, seq_no: int, page: Sequence[RawHit], rejected: Sequence[Rejected]) -> None:
        read = {(hit.id, hit.routing) for hit in page}
        still = [item for item in self._reached.rejected if (item.id, item.routing) not in read]
        listed = (*still, *rejected)
        if len(listed) > MOST_REJECTED:
            raise CopyRefused(
                f"the copy {self._copy.index!r} refused over {MOST_REJECTED:,} documents, such as "
                f"{listed[-1].id!r} ({listed[-1].reason}): see why, abandon the copy, and begin it again"
            )
        shards = self._shards(shard, seq_no)
        self._reached = msgspec.structs.replace(self._reached, shards=shards, rejected=listed)
        if time.monotonic() >= self._keep_at:
            self._keep()

    def _keep(self, **changes: Any) -> None:
        self._reached = msgspec.structs.replace(self._reached, **changes)
        keep_reached(self._client, self._copy, self._reached)
        self._keep_at = time.monotonic() + _KEEP_S

    def _delete(self) -> None:
        """Delete what the source has no more, where the copy has more documents than it should.

        The copy has every document of the source but those that it refused; so equal counts are equal ids.
        """
        client, copy = self._client, self._copy
        for index in (copy.source, copy.index):
            refresh(client, index, must_exist=True)
        surplus = count_documents(client, copy.index) + len(self._reached.rejected)
        if surplus <= count_documents(client, copy.source):
            return
        self._caught.deleted += delete_missing(client, copy)
        listed = self._reached.rejected
        wanted = [(item.id, item.routing) for item in listed]
        found = raw_documents(client, copy.source, wanted, source=False)
        still = tuple(item for item, there in zip(listed, found, strict=True) if there.found)
        if still != listed:
            self._keep(rejected=still)


def _batches(pages: Iterator[list[RawHit]]) -> Iterator[list[RawHit]]:
    """Pages together, up to what is written at a time."""
    batch: list[RawHit] = []
    size = 0
    for page in pages:
        batch += page
        size += size_of(page)
        if len(batch) >= _BATCH or size >= PAGE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_ahead(pool: ThreadPoolExecutor, batches: Iterator[list[RawHit]]) -> Iterator[list[RawHit]]:
    """The batches, the next of which is read while one is written."""
    coming = pool.submit(next, batches, None)
    while (batch := coming.result()) is not None:
        coming = pool.submit(next, batches, None)
        yield batch
