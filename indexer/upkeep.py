"""What belongs to a name and is kept up with it: its indexes, their sentences, past queries and copies."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField, companions, embedded_fields
from trifuse.indexer.errors import CopyRefused, CopyTaken, IndexMissing, IndexNotOurs
from trifuse.indexer.refresh import restore_refresh
from trifuse.indexer.sentences import keep_sentences


def targets_of(client: OpenSearch, index: str) -> list[EmbeddedField]:
    """Every vector field that goes by this name: of all indexes behind it, and of what belongs to them.

    An index that is being embedded anew has two fields, or a copy with a field of its own.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `embedded_fields`; an index may lack vectors that has a
            copy with some.
    """
    from trifuse.indexer.copying import copies_of  # which imports sync

    lacking: IndexNotOurs | None = None
    try:
        own = embedded_fields(client, index)
    except IndexNotOurs as error:
        own, lacking = [], error
    copies = [copy.index for copy in copies_of(client, index)]
    if lacking is not None and not copies:
        raise lacking
    others = [field for name in [*companions(client, index), *copies] for field in _fields(client, name)]
    return list({(field.uuid, field.field): field for field in [*own, *others]}.values())


def _fields(client: OpenSearch, name: str) -> list[EmbeddedField]:
    """The vector fields of an index that belongs to another; none where it was deleted meanwhile."""
    try:
        return embedded_fields(client, name)
    except IndexMissing:
        return []


def restore_all(client: OpenSearch, index: str) -> None:
    """Put back the refresh intervals that a killed load has left behind."""
    for name in [index, *companions(client, index)]:
        restore_refresh(client, name)


def keep_belongings(client: OpenSearch, index: str) -> list[str]:
    """Bring what is made from the index's documents in step with them, before it is looked for vectors.

    Sentences first; then unfinished copies, which takes long where one was only begun.

    Returns:
        What couldn't be done, a sentence each.

    Raises:
        IndexMissing, IndexBlocked: an index is gone, or takes no writes.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    from trifuse.indexer.copying import catch_up, copies_of  # which import sync

    refused: list[str] = []
    kept = keep_sentences(client, index)
    if kept.failed:
        refused.append(f"sentences of {kept.failed:,} documents of {index!r} were refused: {kept.reason}")
    for copy in copies_of(client, index):
        try:
            catch_up(client, copy)
        except CopyTaken:
            continue  # it is being switched to: whoever does that has it caught up
        except CopyRefused as error:
            refused.append(str(error))
    return refused
