"""Write documents of the source into its copy, an older version never over a newer one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS
from trifuse.indexer.bulk import Action, ItemOutcome, stream_bulk
from trifuse.indexer.copying.copies import Copy, Rejected, taken
from trifuse.indexer.copying.documents import Kept, Version, copied, kept_of
from trifuse.indexer.copying.raw import RawHit, RawItem, raw_documents
from trifuse.indexer.cursors import Shard
from trifuse.indexer.errors import CopyRefused, IndexMissing
from trifuse.indexer.outcomes import require_unblocked

_MOST_ITEMS = 1_000
"""Documents of one request, which also has a limit of bytes."""

_ROUNDS = 20
"""How often a document is tried that others write at the same time: workers, and other fillings."""

CONFLICT = 409
_GONE = 404


class Wrote(msgspec.Struct):
    """What became of documents of a page.

    Args:
        written, unchanged: how many were written, and how many were as they should be.
        rejected: those that the copy doesn't take.
    """

    written: int = 0
    unchanged: int = 0
    rejected: list[Rejected] = []


def write_page(
    client: OpenSearch, copy: Copy, shard: Shard, page: Sequence[RawHit], *, era: int, fresh: bool
) -> Wrote:
    """Write a page of one shard into the copy.

    Args:
        era: which history of the source the shard has; see `Version`.
        fresh: whether the copy is expected to have none of these documents.

    Raises:
        CopyTaken: another process switches to the copy.
        IndexMissing: the copy was deleted.
        IndexBlocked: the copy takes no writes.
        CopyRefused: others write the same documents of the copy all the time.
    """
    done = Wrote()
    todo = list(page)
    for attempt in range(_ROUNDS):
        if not todo:
            return done
        there = [] if fresh and attempt == 0 else _there(client, copy, todo)
        todo = _round(client, copy, shard, era, todo, there, done)
    raise CopyRefused(
        f"document {todo[0].id!r} of the index {copy.index!r} was changed {_ROUNDS} times while it was "
        "written: something else than trifuse writes into this copy; stop that, then do the same again"
    )


def _there(client: OpenSearch, copy: Copy, page: Sequence[RawHit]) -> list[RawItem]:
    wanted = [(hit.id, hit.routing) for hit in page]
    return raw_documents(client, copy.index, wanted, source=[MARKS, copy.field])


def _round(
    client: OpenSearch,
    copy: Copy,
    shard: Shard,
    era: int,
    todo: Sequence[RawHit],
    there: Sequence[RawItem],
    done: Wrote,
) -> list[RawHit]:
    """Write what is to be written; those that somebody else got ahead of."""
    sent: list[RawHit] = []

    def actions() -> Iterator[Action]:
        for position, hit in enumerate(todo):
            item = there[position] if there else None
            version = Version(shard.history, hit.seq_no, hit.primary_term, era)
            found = item is not None and item.found
            kept = kept_of(bytes(item.source), copy.field) if item is not None and found else Kept()
            if kept.version is not None and kept.version.covers(version):
                done.unchanged += 1
                continue
            sent.append(hit)
            yield Action(
                op="index" if found else "create",
                index=copy.door,
                id=hit.id,
                routing=hit.routing,
                source=copied(bytes(hit.source), copy.field, copy.drop, version, kept),
                if_seq_no=item.seq_no if item is not None and found else None,
                if_primary_term=item.primary_term if item is not None and found else None,
            )

    conflicts: list[RawHit] = []
    for outcome in through_door(client, copy, actions()):
        hit = sent[outcome.position]
        if outcome.ok:
            done.written += 1
        elif outcome.status == CONFLICT:
            conflicts.append(hit)
        else:
            reason = f"{outcome.error}: {outcome.reason}"
            done.rejected.append(Rejected(hit.id, hit.routing, shard.number, hit.seq_no, reason))
    return conflicts


def through_door(client: OpenSearch, copy: Copy, actions: Iterable[Action]) -> Iterator[ItemOutcome]:
    """Write into the copy by the alias that belongs to this filling, past ingest pipelines.

    Raises:
        CopyTaken, IndexMissing: the alias is gone, or the copy.
        IndexBlocked: the copy takes no writes.
    """
    params = {"pipeline": "_none", "require_alias": "true"}
    for outcome in stream_bulk(client, actions, max_items=_MOST_ITEMS, params=params):
        if outcome.status == _GONE and not outcome.ok:
            if not client.indices.exists(index=copy.index):
                raise IndexMissing(f"the copy {copy.index!r} was deleted while it was filled: begin it again")
            raise taken(copy)
        require_unblocked(outcome)
        yield outcome
