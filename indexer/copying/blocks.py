"""The write block that keeps an index still while an alias moves, and the settings that move with it."""

from __future__ import annotations

from typing import Any

from opensearchpy import OpenSearch

from trifuse.indexer.behind import is_on
from trifuse.indexer.copying.body import PIPELINES
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.refresh import owners_refresh

_WRITE = "index.blocks.write"
_ALL = ("index.blocks.read_only", "index.blocks.read_only_allow_delete")


def flat_settings(client: OpenSearch, index: str) -> dict[str, Any]:
    """The settings of one index that were set, by flat name."""
    found: dict[str, Any] = client.indices.get_settings(index=index, params={"flat_settings": "true"})
    settings: dict[str, Any] = found[index]["settings"]
    return settings


def is_blocked(client: OpenSearch, index: str) -> bool:
    """Whether an index has a write block."""
    return is_on(flat_settings(client, index).get(_WRITE))


def block(client: OpenSearch, index: str) -> None:
    """Refuse writes to an index from now on; those under way are done when this returns.

    Raises:
        CopyRefused: it is read-only altogether, so that its aliases can't move either.
    """
    settings = flat_settings(client, index)
    for name in _ALL:
        if is_on(settings.get(name)):
            raise CopyRefused(
                f"the index {index!r} is read-only ({name} is true), so that its aliases can't move: free "
                "disk if that is the reason, take the setting off, then do the same again"
            )
    client.indices.add_block(index=index, block="write")


def unblock(client: OpenSearch, index: str) -> None:
    """Take the write block off."""
    client.indices.put_settings(index=index, body={_WRITE: None})


def give_settings(client: OpenSearch, source: str, copy: str) -> None:
    """Give the copy its source's pipelines, which it did without, and the refresh interval as it is now."""
    settings = flat_settings(client, source)
    given = {name: settings.get(name, "_none") for name in PIPELINES}
    refresh = {"index.refresh_interval": owners_refresh(client, source)}
    client.indices.put_settings(index=copy, body={**given, **refresh})
