"""One pass over a vector field: what is missing by query, what is stale by reading what was written since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH
from trifuse.indexer.cursors import Shard, keep_cursors, read_cursors, read_shards
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.failures import read_failures
from trifuse.indexer.hints import Hint
from trifuse.indexer.pending import (
    Found,
    Mark,
    State,
    mark_of,
    marked_query,
    missing_query,
    pages,
    text_fields,
    wanted_mark,
)
from trifuse.indexer.reading import PATIENT, refresh
from trifuse.indexer.retry import Retry


class Pending(msgspec.Struct, frozen=True):
    """A document that lacks its vector.

    Args:
        id, routing: where it is.
        seq_no, mark: its version and its mark when that was found.
        state: `missing` or `stale`.
        failed: the mark with which it is known to have failed earlier.
    """

    id: str
    routing: str | None
    seq_no: int
    mark: Mark | None
    state: State
    failed: Mark | None

    @property
    def hint(self) -> Hint:
        """What a worker needs to find it."""
        return self.id, self.routing


class StaleCount(msgspec.Struct, frozen=True):
    """Stale documents.

    Args:
        with_vector: have the vector of an older text.
        without: are marked as empty, and have a text now.
        complete: whether everything was read that was written since the last check.
    """

    with_vector: int
    without: int
    complete: bool


def scan(
    client: OpenSearch,
    target: EmbeddedField,
    *,
    retry: Retry = PATIENT,
    between: Callable[[], None] | None = None,
) -> Iterator[Pending]:
    """What is pending; documents that failed and are as they were then aren't.

    At its end it keeps how far the field was checked: up to the first document that it found stale.

    Args:
        between: called after each page that was checked for stale documents; what it raises ends the scan,
            and the next one goes on there.
    """
    shards = _visible_shards(client, target.index, retry)
    query = missing_query(target)
    for shard in shards:
        found = pages(client, target.index, shard.number, query, source=text_fields(target), retry=retry)
        for page in found:
            yield from _pending(client, target, page, "missing", retry)
    cursors = read_cursors(client, target)
    checked = {key: reached for shard in shards if (reached := cursors.shards.get(key := str(shard.number)))}
    stale = 0
    for shard in shards:
        first: Pending | None = None
        for read_to, changed in _stale_pages(client, target, shard, cursors.after(shard), retry):
            first = first or next(iter(changed), None)
            stale += len(changed)
            yield from changed
            if between is not None:
                # What is stale is to be found again until it is embedded: that moves it to the end.
                checked[str(shard.number)] = (shard.history, read_to if first is None else first.seq_no - 1)
                keep_cursors(client, target, checked, stale=stale)
                between()
        checked[str(shard.number)] = (shard.history, shard.checkpoint if first is None else first.seq_no - 1)
    if checked != cursors.shards or stale != cursors.stale:
        keep_cursors(client, target, checked, stale=stale)


def changed(
    client: OpenSearch, target: EmbeddedField, shard: Shard, after: int, *, retry: Retry = PATIENT
) -> Iterator[Pending]:
    """What is pending among the documents that were written after a number, up to the shard's checkpoint.

    The index must have been refreshed since the shard was read. Documents that a worker wrote are among
    those read, and are in order: they cost the reading of their text.
    """
    source = text_fields(target)
    upto = shard.checkpoint
    found = pages(
        client,
        target.index,
        shard.number,
        missing_query(target),
        after=after,
        upto=upto,
        source=source,
        retry=retry,
    )
    for page in found:
        yield from _pending(client, target, page, "missing", retry)
    for _, stale in _stale_pages(client, target, shard, after, retry):
        yield from stale


def count_stale(client: OpenSearch, target: EmbeddedField, *, most: int, retry: Retry) -> StaleCount:
    """How many documents are stale, by reading at most about `most` of those written since the last check."""
    cursors = read_cursors(client, target)
    found: list[Pending] = []
    for shard in read_shards(client, target.index, retry=retry):
        after = cursors.after(shard)
        if shard.checkpoint - after > most:
            return StaleCount(cursors.stale, 0, complete=False)
        found += [item for _, page in _stale_pages(client, target, shard, after, retry) for item in page]
    empty = sum(1 for item in found if item.mark is not None and item.mark.hash == EMPTY_HASH)
    return StaleCount(len(found) - empty, empty, complete=True)


def _visible_shards(client: OpenSearch, index: str, retry: Retry) -> list[Shard]:
    """The shards, all of whose writes up to the checkpoint a search now sees."""
    shards = read_shards(client, index, retry=retry)
    refresh(client, index, retry=retry)
    return shards


def _stale_pages(
    client: OpenSearch, target: EmbeddedField, shard: Shard, after: int, retry: Retry
) -> Iterator[tuple[int, list[Pending]]]:
    """Stale documents among those written after a number, page by page, with the last number of each."""
    if after >= shard.checkpoint:
        return
    for page in pages(
        client,
        target.index,
        shard.number,
        marked_query(target),
        after=after,
        upto=shard.checkpoint,
        source=text_fields(target),
        retry=retry,
    ):
        changed = [
            found
            for found in page
            if mark_of(found.source, target.field) != wanted_mark(found.source, target.space)[1]
        ]
        yield page[-1].seq_no, list(_pending(client, target, changed, "stale", retry))


def _pending(
    client: OpenSearch, target: EmbeddedField, page: Sequence[Found], state: State, retry: Retry
) -> Iterator[Pending]:
    """The page without the documents that failed and haven't changed since."""
    known = read_failures(client, target, [found.hint for found in page], retry=retry)
    for found in page:
        failed = known.get(found.hint)
        if failed is None or failed.mark != wanted_mark(found.source, target.space)[1]:
            yield Pending(
                found.id,
                found.routing,
                found.seq_no,
                mark_of(found.source, target.field),
                state,
                failed.mark if failed else None,
            )
