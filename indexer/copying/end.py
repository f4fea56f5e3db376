"""Give a copy up, or the index that it has taken the place of."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.encoder.ours import meta_without
from trifuse.indexer.behind import aliases_of
from trifuse.indexer.copying.back import require_still
from trifuse.indexer.copying.copies import Copy, again, doors_among, find_copy, forget_copy, taken
from trifuse.indexer.copying.returning import source_is_there
from trifuse.indexer.copying.switch import revert
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.meta import change_meta


def abandon(client: OpenSearch, name: str) -> Copy:
    """Delete a copy that wasn't switched to, or whose switch was interrupted; the source is as it was.

    Args:
        name: the alias, the copy or the source.

    Raises:
        IndexMissing, CopyRefused: there is no such copy, or it has taken the place of its source.
        CopyTaken: another process is switching to it.
    """
    copy = find_copy(client, name, "filling", "switching")
    if copy.standing.phase in ("switched", "returning"):
        raise CopyRefused(
            f"{copy.index!r} has taken the place of {copy.source!r}, and may hold what is nowhere else: roll "
            "back before (--rollback)"
        )
    if client.indices.exists(index=copy.source):
        revert(client, copy)
        if again(client, copy).standing.phase == "switching":
            raise taken(copy)
    if named := _names(client, copy):
        raise CopyRefused(
            f"the alias {', '.join(map(repr, named))} stands for {copy.index!r}, so that it is in use: take "
            "the alias away, or switch to the copy and roll back (--switch, --rollback)"
        )
    client.indices.delete(index=copy.index)
    forget_copy(client, copy)
    return copy


def finish(client: OpenSearch, name: str) -> Copy:
    """Delete the index that a copy has taken the place of: from then on there is no way back.

    Args:
        name: the alias, the copy or the source.

    Raises:
        IndexMissing, CopyRefused: there is no such copy, or it hasn't taken the place of its source, or that
            is in use again.
    """
    copy = find_copy(client, name, "switched")
    if copy.standing.phase != "switched":
        raise CopyRefused(
            f"the alias {copy.alias!r} doesn't stand for the copy {copy.index!r}: switch to it (--switch)"
        )
    if source_is_there(client, copy):
        if client.indices.exists_alias(index=copy.source, name=copy.alias):
            raise CopyRefused(
                f"the alias {copy.alias!r} stands for {copy.source!r}, which would be deleted: let it stand "
                f"for {copy.index!r}, then do the same again"
            )
        require_still(client, copy)
        client.indices.delete(index=copy.source)
    change_meta(client, copy.index, lambda meta: meta_without(meta, "copy"))
    forget_copy(client, copy)
    return copy


def _names(client: OpenSearch, copy: Copy) -> list[str]:
    """The aliases that the copy has, but for those that it is filled through."""
    held = aliases_of(client, copy.index)
    return sorted(set(held) - set(doors_among(copy.index, held)))
