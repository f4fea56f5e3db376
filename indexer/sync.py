"""Bring an index's vectors up to date: find what is pending, queue it, and wait if asked to.

The index is the record of what is still to do. Whatever became of messages, workers and brokers before, a
sync ends with one valid vector for every document that has a text, or says what is left and why.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import chain

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.bulk import bulk
from trifuse.indexer.counts import Counts, count_field, count_refreshed, counts, total
from trifuse.indexer.cursors import forget_cursors
from trifuse.indexer.embedded import QUERIES_PREFIX, EmbeddedField
from trifuse.indexer.errors import IndexMissing
from trifuse.indexer.failures import FAILED_INDEX, failure_pages, forget_actions
from trifuse.indexer.follow import Patience, follow
from trifuse.indexer.followed import Followed, no_worker
from trifuse.indexer.hints import Enqueue, Hint
from trifuse.indexer.progress import Step, Tell
from trifuse.indexer.reading import refresh
from trifuse.indexer.scan import scan
from trifuse.indexer.upkeep import keep_belongings, own_and_others, restore_all

__all__ = ["Patience", "SyncReport", "counts", "sync"]

_CHUNK = 512


class SyncReport(msgspec.Struct, frozen=True):
    """The documents of the index and of its companions: each is one of the four.

    Of an index that has several vector fields they are told of the one that is furthest behind: most pending,
    then most failed.

    Args:
        pending: still lack their vector.
        embedded: got it while sync waited.
        skipped: needed nothing, or have no text.
        failed: can't be embedded as they are: see the index `trifuse-failed`.
        stalled: why what is pending won't move by itself, or sentences weren't made; "" where nothing is
            known to be in the way.
    """

    pending: int
    embedded: int
    skipped: int
    failed: int
    stalled: str = ""


def sync(
    client: OpenSearch,
    index: str,
    enqueue: Enqueue,
    *,
    wait: bool = False,
    retry_failed: bool = False,
    patience: Patience = Patience(),  # noqa: B008 - frozen
    listening: Callable[[Space], bool] | None = None,
    progress: Tell | None = None,
) -> SyncReport:
    """Queue the documents that lack the vector of their text: of the index, its sentences, its past queries.

    In every vector field of every index behind the name: the indexes' own first, then those of sentences,
    past queries and copies, after these were brought in step.
    Also puts back a refresh interval that a killed load has left behind; and where it waits, has the server
    merge the segments of past queries.

    Args:
        wait: stay until nothing is pending, queue again what got lost, and give up where nothing moves.
        retry_failed: queue also what failed before and hasn't changed since, and make all sentences again.
        patience: how to wait.
        listening: tells whether a worker takes the tasks of a space; asked where nothing moves, and at the
            end of a sync that doesn't wait.
        progress: told how far waiting, splitting into sentences and copying have come.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: the index can't be synced.
        FieldDetached: a field that was waited for was taken out of use.
        HintsUndelivered: the broker can't be reached, and sync doesn't wait for it.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    seen: list[tuple[EmbeddedField, Followed]] = []
    stuck: set[EncoderSpace] = set()  # others may have a worker

    def visit(target: EmbeddedField) -> None:
        if retry_failed:
            _forget(client, target)
        found = Followed()
        if not wait:
            found = _queue_all(client, target, enqueue, listening)
        elif target.space.encoder not in stuck:
            found = sync_field(client, target, enqueue, patience, listening, progress)
            if found.stalled:
                stuck.add(target.space.encoder)
        seen.append((target, found))

    try:
        refused = _visit_all(client, index, visit, progress, full=retry_failed)
        if not wait:
            return _report(seen, [count_field(client, target) for target, _ in seen], refused)
        for name in {target.index for target, _ in seen if target.index.startswith(QUERIES_PREFIX)}:
            _merge(client, name)
        return _report(seen, [count_refreshed(client, target) for target, _ in seen], refused)
    except NotFoundError as error:
        raise IndexMissing(f"the index {index!r} was deleted while it was synced") from error


def queue_pending(
    client: OpenSearch,
    index: str,
    enqueue: Enqueue,
    *,
    busy: Callable[[Space], bool],
    between: Callable[[], None],
) -> None:
    """A sync that doesn't wait or count, and may be ended early: the next one goes on where it was.

    Args:
        busy: tells of which spaces nothing is to be queued.
        between: called after each piece of work; what it raises ends it.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch, HintsUndelivered, ServerUnavailable: as `sync`.
    """

    def visit(target: EmbeddedField) -> None:
        if not busy(target.space):
            _queue_all(client, target, enqueue, None, between)

    _visit_all(client, index, visit, lambda _: between())


def _visit_all(
    client: OpenSearch,
    index: str,
    visit: Callable[[EmbeddedField], None],
    progress: Tell | None,
    *,
    full: bool = False,
) -> list[str]:
    """See to every vector field that goes by a name, each after what it holds was brought in step.

    An index's own come first: sentences of a large index take long to be made.

    Returns:
        What couldn't be brought in step.
    """
    own, _ = own_and_others(client, index)
    restore_all(client, index)
    for target in own:
        visit(target)
    refused = keep_belongings(client, index, full=full, progress=progress)
    _, others = own_and_others(client, index)  # sentences may have got their index only now
    for target in others:
        visit(target)
    return refused


def _forget(client: OpenSearch, target: EmbeddedField) -> None:
    """Take what failed for pending again: stale documents among it lie below the cursor."""
    refresh(client, FAILED_INDEX)
    for page in failure_pages(client, target):
        bulk(client, forget_actions(page))
    forget_cursors(client, target)


def _queue_all(
    client: OpenSearch,
    target: EmbeddedField,
    enqueue: Enqueue,
    listening: Callable[[Space], bool] | None,
    between: Callable[[], None] | None = None,
) -> Followed:
    seen, waiting = Followed(), list[Hint]()

    def send() -> None:
        if waiting:
            enqueue(target.index, target.field, target.space, list(waiting))
            seen.found += len(waiting)
            waiting.clear()

    def pause() -> None:
        send()
        if between is not None:
            between()

    for item in scan(client, target, between=pause if between else None):
        waiting.append(item.hint)
        if len(waiting) >= _CHUNK:
            pause()
    send()
    if seen.found and listening is not None and not listening(target.space):
        seen.stalled = no_worker(target.space)
    return seen


def sync_field(
    client: OpenSearch,
    target: EmbeddedField,
    enqueue: Enqueue,
    patience: Patience,
    listening: Callable[[Space], bool] | None,
    progress: Tell | None,
) -> Followed:
    """Have one vector field brought up to date, and wait for it."""
    pending = count_refreshed(client, target).pending if progress is not None else 0

    def tell(seen: Followed) -> None:
        if progress is not None:
            found = max(pending, seen.found)
            progress(Step("embedding", target.index, found, seen.done, seen.waiting))

    tell(Followed())
    return follow(client, target, enqueue, patience=patience, listening=listening, progress=tell)


def _merge(client: OpenSearch, name: str) -> None:
    """Have the server put the segments of an index together, after this: a k-NN search walks a graph in each.

    Past queries are written bit by bit, and searched with every search: 100,000 of them in 11 segments take
    1.4 ms, in one 0.6 ms.
    """
    client.indices.forcemerge(index=name, params={"max_num_segments": 1, "wait_for_completion": "false"})


def _report(
    seen: Sequence[tuple[EmbeddedField, Followed]], counted: Sequence[Counts], refused: Sequence[str]
) -> SyncReport:
    """What was seen while waiting, and what the indexes hold now."""
    by_index: dict[str, list[tuple[Counts, int]]] = defaultdict(list)
    for (target, followed), found in zip(seen, counted, strict=True):
        by_index[target.uuid].append((found, followed.embedded))
    told = [max(fields, key=_behind) for fields in by_index.values()]
    now, embedded = total([found for found, _ in told]), sum(done for _, done in told)
    stalled = (followed.stalled for _, followed in seen if followed.stalled)
    return SyncReport(
        pending=now.pending,
        embedded=embedded,
        skipped=max(0, now.current + now.empty - embedded),
        failed=now.failed,
        stalled=next(chain(stalled, refused), ""),
    )


def _behind(field: tuple[Counts, int]) -> tuple[int, int, int]:
    """How far a vector field is behind, by its counts and how many documents got their vector just now."""
    found, embedded = field
    return found.pending, found.failed, embedded
