"""What belongs to a name and is kept up with it: its indexes, their sentences, past queries and copies."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField, companions, embedded_fields
from trifuse.indexer.refresh import restore_refresh
from trifuse.indexer.sentences import keep_sentences


def targets_of(client: OpenSearch, index: str) -> list[EmbeddedField]:
    """Every vector field that goes by this name: of all indexes behind it, and of what belongs to them.

    An index that is being embedded anew has two fields.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `embedded_fields`.
    """
    own = embedded_fields(client, index)
    others = [field for name in companions(client, index) for field in embedded_fields(client, name)]
    return list({(field.uuid, field.field): field for field in [*own, *others]}.values())


def restore_all(client: OpenSearch, index: str) -> None:
    """Put back the refresh intervals that a killed load has left behind."""
    for name in [index, *companions(client, index)]:
        restore_refresh(client, name)


def keep_belongings(client: OpenSearch, index: str) -> list[str]:
    """Bring what is made from the index's documents in step with them, before it is looked for vectors.

    Returns:
        What couldn't be done, a sentence each; it is tried again when the documents are written again.

    Raises:
        IndexMissing, IndexBlocked: an index is gone, or takes no writes.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    kept = keep_sentences(client, index)
    if kept.failed:
        return [f"sentences of {kept.failed:,} documents of {index!r} were refused: {kept.reason}"]
    return []
