"""Give a copy up, or the index that it has taken the place of."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.indexer.copying.blocks import flat_settings
from trifuse.indexer.copying.copies import Copy, find_copy, forget_copy
from trifuse.indexer.copying.switch import has_moved, revert
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.meta import change_meta
from trifuse.indexer.ours import meta_without


def abandon(client: OpenSearch, name: str) -> Copy:
    """Delete a copy that wasn't switched to, or whose switch was interrupted; the source is as it was.

    Args:
        name: the alias, the copy or the source.

    Raises:
        IndexMissing, CopyRefused: there is no such copy, or the alias stands for it.
    """
    copy = find_copy(client, name, "filling", "switching")
    if has_moved(client, copy):
        raise CopyRefused(
            f"the alias {copy.alias!r} stands for {copy.index!r}: roll back before (--rollback)"
        )
    if client.indices.exists(index=copy.source):
        revert(client, copy)
    client.indices.delete(index=copy.index)
    forget_copy(client, copy)
    return copy


def finish(client: OpenSearch, name: str) -> Copy:
    """Delete the index that a copy has taken the place of: from then on there is no way back.

    Args:
        name: the alias, the copy or the source.

    Raises:
        IndexMissing, CopyRefused: there is no such copy, or the alias doesn't stand for it.
    """
    copy = find_copy(client, name, "switched")
    if copy.standing.phase != "switched" or not has_moved(client, copy):
        raise CopyRefused(
            f"the alias {copy.alias!r} doesn't stand for the copy {copy.index!r}: switch to it (--switch)"
        )
    there = client.indices.exists(index=copy.source)
    if there and flat_settings(client, copy.source)["index.uuid"] == copy.source_uuid:
        client.indices.delete(index=copy.source)
    change_meta(client, copy.index, lambda meta: meta_without(meta, "copy"))
    forget_copy(client, copy)
    return copy
