"""Whether a vector field that is waited for is still one: others may take it out meanwhile."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField, embedded_field
from trifuse.indexer.errors import FieldDetached, IndexMissing, IndexNotOurs
from trifuse.indexer.retry import Retry, retrying


def require_attached(client: OpenSearch, target: EmbeddedField, *, retry: Retry) -> None:
    """Make sure that the very same vector field is there to be filled.

    Raises:
        FieldDetached: nobody writes its vectors any more.
        ServerUnavailable: OpenSearch didn't answer in all retries.
    """
    try:
        found = retrying(
            lambda: embedded_field(client, target.index, target.field),
            what=f"the mapping of the index {target.index!r}",
            retry=retry,
        )
    except IndexMissing as error:
        raise _detached(target, "the index is gone") from error
    except IndexNotOurs as error:
        raise _detached(target, "the index's _meta doesn't name it any more") from error
    if found.uuid != target.uuid:
        raise _detached(target, "the index was deleted, and made again")
    if found.space.id != target.space.id:
        raise _detached(target, "it has another space now")


def _detached(target: EmbeddedField, why: str) -> FieldDetached:
    return FieldDetached(
        f"the vector field {target.field!r} of the index {target.index!r} was detached meanwhile ({why}), so "
        "that nobody fills it: see what is there now with `trifuse status`, and attach again if need be"
    )
