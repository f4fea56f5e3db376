"""Undo an attachment into a copy: the alias goes back to the owner's index, and the copy is deleted."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import has_spaces
from trifuse.indexer.behind import aliases_of, index_known
from trifuse.indexer.copying.back import roll_back
from trifuse.indexer.copying.copies import Copy, all_copies
from trifuse.indexer.copying.end import abandon
from trifuse.indexer.errors import CopyRefused


def attached_copies(client: OpenSearch, name: str) -> list[Copy]:
    """The copies that attaching has made of the index, or of that behind the alias, newest first.

    Raises:
        CopyRefused: embedding anew has made a copy of an index that has vectors itself, and isn't ended: the
            one would be left without its way back, or the other without its source.
    """
    attached = []
    for copy in reversed(all_copies(client, name)):
        source = index_known(client, copy.source, copy.source_uuid)
        if source is None:
            continue
        if has_spaces(source.meta):
            ways = "--finish` or `--rollback" if copy.standing.phase == "switched" else "--abandon"
            raise CopyRefused(
                f"{copy.source!r} is embedded anew by the copy {copy.index!r}: end that first, with "
                f"`trifuse reembed {copy.alias} {ways}`, then detach"
            )
        attached.append(copy)
    return attached


def take_back(client: OpenSearch, copy: Copy) -> str:
    """Switch back where it was switched to, with what was written since, then delete it; what became of it.

    Raises:
        CopyRefused: the owner's index doesn't take a document.
    """
    was_switched = copy.standing.phase in ("switched", "returning")
    if was_switched:
        roll_back(client, copy.index)
    abandon(client, copy.index)
    if was_switched:
        named = sorted(aliases_of(client, copy.source))
        alias = f"the alias {', '.join(named)} stands for " if named else "no alias stands for "
        return f"{alias}{copy.source}, which takes writes again"
    return f"the index {copy.source} is as it was"
