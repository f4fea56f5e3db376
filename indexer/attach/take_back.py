"""Undo an attachment into a copy: the alias goes back to the owner's index, and the copy is deleted."""

from __future__ import annotations

from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.spaces import has_spaces
from trifuse.indexer.copying.back import roll_back
from trifuse.indexer.copying.copies import Copy, all_copies
from trifuse.indexer.copying.end import abandon


def attached_copies(client: OpenSearch, name: str) -> list[Copy]:
    """The copies that attaching has made of the index, or of that behind the alias, newest first.

    Copies of an index that has vectors itself aren't among them: embedding anew has made these.
    """
    return [copy for copy in reversed(all_copies(client, name)) if _source_is_bare(client, copy)]


def _source_is_bare(client: OpenSearch, copy: Copy) -> bool:
    found: dict[str, Any] = client.indices.get(
        index=copy.source, params={"flat_settings": "true", "ignore_unavailable": "true"}
    )
    entry = found.get(copy.source)
    if entry is None or entry["settings"]["index.uuid"] != copy.source_uuid:
        return False
    return not has_spaces(entry["mappings"].get("_meta"))


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
        return f"the alias {copy.alias} stands for {copy.source}, which takes writes again"
    return f"the index {copy.source} is as it was"
