"""How a way back ends that was begun: with the aliases at the source, or as if it had never been begun.

Who goes back opens the next door of the copy, and moves the aliases in a request that shuts it and opens the
one after it. So the doors say whether the aliases moved, whatever these are called by now; and a process that
was taken for dead, and goes on, is refused.
"""

from __future__ import annotations

import contextlib

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.behind import index_known
from trifuse.indexer.copying.blocks import block, flat_settings, unblock
from trifuse.indexer.copying.body import PIPELINES
from trifuse.indexer.copying.copies import Copy, Standing, again, door_name, keep_standing
from trifuse.indexer.errors import CopyRefused

FINAL = "index.final_pipeline"


def opened_door(copy: Copy) -> str:
    """The door of the copy that is open while it is on its way back."""
    return door_name(copy.index, copy.standing.door + 1)


def returned_door(copy: Copy) -> str:
    """The door that is open since the aliases moved back."""
    return door_name(copy.index, copy.standing.door + 2)


def has_returned(client: OpenSearch, copy: Copy) -> bool:
    """Whether the aliases moved back."""
    return bool(client.indices.exists_alias(index=copy.index, name=returned_door(copy)))


def settle_return(client: OpenSearch, copy: Copy) -> Copy:
    """End a way back that was begun and isn't to be gone on; the copy as it stands then."""
    copy = again(client, copy)
    if copy.standing.phase != "returning":
        return copy
    return end_return(client, copy) if has_returned(client, copy) else undo_return(client, copy)


def end_return(client: OpenSearch, copy: Copy) -> Copy:
    """The aliases stand for the source: the copy is kept in step with it again."""
    client.indices.put_settings(index=copy.index, body=dict.fromkeys(PIPELINES, "_none"))
    unblock(client, copy.index)
    return keep_standing(client, copy, Standing("filling", copy.standing.door + 2))


def undo_return(client: OpenSearch, copy: Copy) -> Copy:
    """The aliases stand for the copy: it takes writes again, and the source, where it is, takes none."""
    shut = {"remove": {"index": copy.index, "alias": opened_door(copy), "must_exist": False}}
    client.indices.update_aliases(body={"actions": [shut]})
    if has_returned(client, copy):  # in the moment before
        return end_return(client, copy)
    if source_is_there(client, copy):
        with contextlib.suppress(CopyRefused):  # it is read-only altogether
            block(client, copy.source)
        client.indices.put_settings(index=copy.source, body={FINAL: owners_final(client, copy)})
    unblock(client, copy.index)
    standing = msgspec.structs.replace(copy.standing, phase="switched", door=copy.standing.door + 1)
    return keep_standing(client, copy, standing)


def owners_final(client: OpenSearch, copy: Copy) -> str | None:
    """The final pipeline, which the copy has had since the switch; None where the owner has none."""
    final: str = flat_settings(client, copy.index).get(FINAL, "_none")
    return None if final == "_none" else final


def source_is_there(client: OpenSearch, copy: Copy) -> bool:
    """Whether the index that was copied exists: not a later one of the same name."""
    return index_known(client, copy.source, copy.source_uuid) is not None
