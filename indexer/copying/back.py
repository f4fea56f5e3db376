"""Let the alias stand for the source again, with everything that was written to the copy since the switch."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from trifuse.encoder.marks import MARKS
from trifuse.indexer.actions import Action
from trifuse.indexer.behind import aliases_of
from trifuse.indexer.bulk import stream_bulk
from trifuse.indexer.copying.aliases import moves
from trifuse.indexer.copying.blocks import block, is_blocked, unblock
from trifuse.indexer.copying.copies import Copy, again, find_copy, keep_standing
from trifuse.indexer.copying.deletions import missing_in
from trifuse.indexer.copying.documents import carried, content_of, parts_of
from trifuse.indexer.copying.mappings import return_mapping
from trifuse.indexer.copying.raw import RawHit, RawItem, raw_documents, raw_pages
from trifuse.indexer.copying.returning import (
    FINAL,
    end_return,
    has_returned,
    opened_door,
    owners_final,
    returned_door,
    source_is_there,
    undo_return,
)
from trifuse.indexer.copying.switch import revert
from trifuse.indexer.cursors import settled_shards
from trifuse.indexer.errors import CopyRefused, CopyTaken, IndexMissing, ServerUnavailable
from trifuse.indexer.outcomes import require_unblocked
from trifuse.indexer.reading import count_documents, refresh


class Returned(msgspec.Struct):
    """What was carried back: documents that were written, and deleted, in the source."""

    written: int = 0
    deleted: int = 0


def roll_back(client: OpenSearch, name: str) -> Returned:
    """Switch back: changes of the copy since the switch go to the source, then the alias does.

    The copy stays, is kept in step again, and can be switched to another time. Writers are refused (403)
    while it lasts. Interrupted, it goes on when it is run again.

    Every alias that the copy has by then goes back, whatever its owner called it since.

    Args:
        name: the alias, the copy or the source.

    Raises:
        CopyRefused: the copy wasn't switched to; the source was written to since; or it doesn't take a
            document.
        IndexMissing: the source was deleted: there is nothing to go back to.
    """
    copy = find_copy(client, name, "switched", "returning")
    if copy.standing.phase == "switching":  # a switch was killed, or is to be left off
        revert(client, copy)
        copy = again(client, copy)
        if copy.standing.phase == "filling":
            return Returned()
    if copy.standing.phase not in ("switched", "returning"):
        raise CopyRefused(
            f"the alias {copy.alias!r} stands for {copy.source!r}: there is nothing to go back from"
        )
    _require_source(client, copy)
    if copy.standing.phase == "switched":
        require_still(client, copy)
    standing = msgspec.structs.replace(copy.standing, phase="returning", at=time.time())
    copy = keep_standing(client, copy, standing)
    done = Returned()
    if not has_returned(client, copy):
        done = _return(client, copy)
    end_return(client, copy)
    return done


def _require_source(client: OpenSearch, copy: Copy) -> None:
    if source_is_there(client, copy):
        return
    if not client.indices.exists(index=copy.source):
        raise IndexMissing(f"the index {copy.source!r} was deleted: there is nothing to go back to")
    raise CopyRefused(f"the index {copy.source!r} is another than the one that was copied: it was made again")


def require_still(client: OpenSearch, copy: Copy) -> None:
    """Make sure that nobody wrote to the source since the copy took its place.

    Raises:
        CopyRefused: it takes writes: what was written to it isn't in the copy.
    """
    if not is_blocked(client, copy.source):
        raise CopyRefused(
            f"somebody took the write block off {copy.source!r}, whose place {copy.index!r} has taken: what "
            f"was written to it since would be lost. Write that to {copy.index!r} as well, put the block "
            f"back (PUT /{copy.source}/_block/write), then do the same again"
        )


def _return(client: OpenSearch, copy: Copy) -> Returned:
    """Carry changes back, and move the aliases; where it can't be done, the copy is as it was."""
    try:
        opened = {"add": {"index": copy.index, "alias": opened_door(copy)}}
        client.indices.update_aliases(body={"actions": [opened]})
        block(client, copy.index)
        final = _open_source(client, copy)
        return_mapping(client, copy)
        done = _carry(client, copy)
        client.indices.put_settings(index=copy.source, body={FINAL: final})
        _move_back(client, copy)
    except BaseException:
        # Where even this fails, running it again goes on.
        with contextlib.suppress(OpenSearchException, ServerUnavailable):
            if not has_returned(client, copy):
                undo_return(client, copy)
        raise
    return done


def _move_back(client: OpenSearch, copy: Copy) -> None:
    held = aliases_of(client, copy.index)
    opened = opened_door(copy)
    theirs = {name: value for name, value in held.items() if name != opened}
    through = [
        {"remove": {"index": copy.index, "alias": opened, "must_exist": True}},
        {"add": {"index": copy.index, "alias": returned_door(copy)}},
    ]
    moved = moves(theirs, old=copy.index, new=copy.source)
    try:
        client.indices.update_aliases(body={"actions": [*through, *moved]})
    except NotFoundError as error:
        raise CopyTaken(f"another process is at the way back from {copy.index!r}: look again soon") from error


def _open_source(client: OpenSearch, copy: Copy) -> str | None:
    """Let documents into the source that went through its pipelines once; the final one, to be set again.

    The copy has had the same one since the switch, so that it is known also where this was interrupted.
    """
    final = owners_final(client, copy)
    client.indices.put_settings(index=copy.source, body={FINAL: "_none"})
    unblock(client, copy.source)
    return final


def _carry(client: OpenSearch, copy: Copy) -> Returned:
    """Make the source's documents those of the copy."""
    refresh(client, copy.index)
    done = Returned()
    for shard in settled_shards(client, copy.index):
        after = shard.after(copy.standing.switched_at)
        for page in raw_pages(client, copy.index, shard, after=after):
            wanted = [(hit.id, hit.routing) for hit in page]
            there = raw_documents(client, copy.source, wanted)
            done.written += _write(client, _changed(copy, page, there))
    refresh(client, copy.source)
    if count_documents(client, copy.source) > count_documents(client, copy.index):
        done.deleted = _write(client, _deletions(client, copy))
    return done


def _changed(copy: Copy, page: Sequence[RawHit], there: Sequence[RawItem]) -> Iterator[Action]:
    """What writes the documents of a page that differ: a worker's vector alone is no change."""
    ours = {MARKS, *copy.own, *copy.drop}
    for hit, item in zip(page, there, strict=True):
        raw = bytes(hit.source)
        before = bytes(item.source) if item.found else b"{}"
        if item.found and content_of(raw, ours) == content_of(before, ours):
            continue
        kept = {name: value for name, value in parts_of(before).items() if name in (MARKS, *copy.drop)}
        source = carried(raw, copy.own, kept)
        yield Action(op="index", index=copy.source, id=hit.id, routing=hit.routing, source=source)


def _deletions(client: OpenSearch, copy: Copy) -> Iterator[Action]:
    for hit in missing_in(client, copy.index, there=copy.source):
        yield Action(op="delete", index=copy.source, id=hit.id, routing=hit.routing)


def _write(client: OpenSearch, actions: Iterator[Action]) -> int:
    count = 0
    for outcome in stream_bulk(client, actions, params={"pipeline": "_none"}):
        require_unblocked(outcome)
        if not outcome.ok:
            raise CopyRefused(
                f"the document {outcome.action.id!r} can't go back to {outcome.action.index!r} "
                f"({outcome.error}: {outcome.reason}): correct it in the copy, then do the same again"
            )
        count += 1
    return count
