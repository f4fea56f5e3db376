"""Let the alias stand for the copy: in one request, and only where the copy has everything.

Writers of the source are refused (403) from the last catching up on, which is a moment; and by the source's
own name for good, so that nobody's write is lost without a word.
"""

from __future__ import annotations

import contextlib
import time

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError, OpenSearchException

from trifuse.indexer.behind import aliases_of, names_behind
from trifuse.indexer.copying.aliases import moves
from trifuse.indexer.copying.blocks import block, give_settings, is_blocked, unblock
from trifuse.indexer.copying.check import content_faults, faults_of
from trifuse.indexer.copying.copies import Copy, Standing, again, doors_among, keep_standing, taken
from trifuse.indexer.copying.fill import catch_up
from trifuse.indexer.copying.returning import settle_return, source_is_there
from trifuse.indexer.cursors import read_shards
from trifuse.indexer.errors import CopyRefused, ServerUnavailable

_PASSES = 5
_LITTLE = 100
"""Writes of the source that are caught up with while its writers wait."""


def switch(client: OpenSearch, copy: Copy) -> Copy:
    """Switch the alias to the copy; what was switched before, or in part, is well too. The copy so.

    Documents that were edited in the last moment may still wait for their vector, as after any edit.

    Raises:
        CopyRefused: the copy isn't complete, or can't be switched to; the source is as it was before.
        CopyTaken: another process is at it.
    """
    copy = settle_return(client, copy)
    if copy.standing.phase == "switched":
        return copy
    if has_moved(client, copy):
        return _settle(client, copy)
    _require_alias(client, copy)
    if copy.standing.phase == "filling":
        _require(faults_of(client, copy))
        for _ in range(_PASSES):
            if catch_up(client, copy).lag <= _LITTLE:
                break
    blocked = copy.standing.blocked if copy.standing.phase == "switching" else is_blocked(client, copy.source)
    standing = Standing("switching", copy.standing.door + 1, blocked, at=time.time())
    copy = keep_standing(client, copy, standing)
    try:
        _new_door(client, copy)
        block(client, copy.source)
        catch_up(client, copy)
        _require(content_faults(client, copy))
        copy = _note_shards(client, copy)
        give_settings(client, copy.source, copy.index)
        _move(client, copy)
    except BaseException:
        # Where even this fails, running it again finishes or reverts.
        with contextlib.suppress(OpenSearchException, ServerUnavailable):
            if has_moved(client, copy):
                _settle(client, copy)
            else:
                revert(client, copy)
        raise
    return _settle(client, copy)


def revert(client: OpenSearch, copy: Copy) -> None:
    """Leave off switching: writers write the source again. Where another process is at it, it goes on.

    The door is shut first: who still switches by it, and was taken for dead, is refused.
    """
    now = again(client, copy).standing
    if now.phase != "switching" or now.door != copy.standing.door:
        return
    shut = msgspec.structs.replace(now, door=now.door + 1)
    copy = keep_standing(client, copy, shut)
    with contextlib.suppress(NotFoundError):  # without the copy nobody switches to it
        _new_door(client, copy)
        if has_moved(client, copy):
            _settle(client, copy)
            return
    if again(client, copy).standing != shut:
        return  # somebody has begun to switch anew, and needs the block
    if not now.blocked:
        unblock(client, copy.source)
    keep_standing(client, copy, Standing("filling", shut.door))


def has_moved(client: OpenSearch, copy: Copy) -> bool:
    """Whether the alias stands for the copy, which may be gone."""
    return bool(client.indices.exists_alias(index=copy.index, name=copy.alias))


def _require_alias(client: OpenSearch, copy: Copy) -> None:
    behind = names_behind(client, copy.alias)
    if behind - {copy.source}:
        raise CopyRefused(
            f"the alias {copy.alias!r} stands for {sorted(behind)}, and not for {copy.source!r} alone: put "
            "it right, or abandon the copy"
        )


def _require(faults: list[str]) -> None:
    if faults:
        raise CopyRefused("the copy isn't complete: " + "; ".join(faults))


def _new_door(client: OpenSearch, copy: Copy) -> None:
    """From now on only who knows that the source stands still writes into the copy."""
    doors = doors_among(copy.index, aliases_of(client, copy.index))
    actions = [{"remove": {"index": copy.index, "alias": name}} for name in doors if name != copy.door]
    actions.append({"add": {"index": copy.index, "alias": copy.door}})
    client.indices.update_aliases(body={"actions": actions})


def _note_shards(client: OpenSearch, copy: Copy) -> Copy:
    """Keep how far the copy's own writes had come: what comes later is the owner's."""
    shards = {
        str(shard.number): (shard.history, shard.checkpoint) for shard in read_shards(client, copy.index)
    }
    return keep_standing(client, copy, msgspec.structs.replace(copy.standing, switched_at=shards))


def _move(client: OpenSearch, copy: Copy) -> None:
    now = again(client, copy).standing
    if now.door != copy.standing.door or not is_blocked(client, copy.source):
        raise taken(copy)
    held = aliases_of(client, copy.source)
    actions = moves(held, old=copy.source, new=copy.index, alias=copy.alias, door=copy.door)
    try:
        client.indices.update_aliases(body={"actions": actions})
    except NotFoundError as error:
        raise taken(copy) from error


def _settle(client: OpenSearch, copy: Copy) -> Copy:
    """Note that the alias has moved; whoever left off meanwhile may have taken the block off."""
    if source_is_there(client, copy) and not is_blocked(client, copy.source):
        block(client, copy.source)
    now, known = again(client, copy).standing, copy.standing.switched_at
    standing = msgspec.structs.replace(now, phase="switched", switched_at=now.switched_at or known)
    return keep_standing(client, copy, standing)
