"""What belongs to a name and is kept up with it: its indexes, their sentences, past queries and copies."""

from __future__ import annotations

from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField, companions, embedded_fields
from trifuse.indexer.errors import CopyRefused, CopyTaken, IndexMissing, IndexNotOurs
from trifuse.indexer.progress import Tell
from trifuse.indexer.refresh import restore_refresh
from trifuse.indexer.sentences import keep_sentences


def targets_of(client: OpenSearch, index: str) -> list[EmbeddedField]:
    """Every vector field that goes by this name: of all indexes behind it, and of what belongs to them.

    An index that is being embedded anew has two fields, or a copy with a field of its own.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `embedded_fields`; an index may lack vectors that has a
            copy with some.
    """
    own, others = own_and_others(client, index)
    return [*own, *others]


def own_and_others(client: OpenSearch, index: str) -> tuple[list[EmbeddedField], list[EmbeddedField]]:
    """The vector fields of the indexes behind a name, and those of what belongs to them.

    Raises:
        IndexMissing, IndexNotOurs, SpaceMismatch: as `targets_of`.
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
    known = {(field.uuid, field.field) for field in own}
    found = [field for name in [*companions(client, index), *copies] for field in _fields(client, name)]
    others = {key: field for field in found if (key := (field.uuid, field.field)) not in known}
    return own, list(others.values())


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


def keep_belongings(
    client: OpenSearch,
    index: str,
    *,
    full: bool = False,
    progress: Tell | None = None,
) -> list[str]:
    """Bring what is made from the index's documents in step with them, before it is looked for vectors.

    Sentences first; then unfinished copies, which takes long where one was only begun.

    Args:
        full: make the sentences of all documents again, also of those that some were refused of.
        progress: told how far each has come, page by page; what it raises ends it there, to go on the next
            time.

    Returns:
        What couldn't be done, a sentence each.

    Raises:
        IndexMissing, IndexBlocked: an index is gone, or takes no writes.
        ServerUnavailable: OpenSearch was away for longer than a restart takes.
    """
    from trifuse.indexer.copying import catch_up, copies_of  # which import sync
    from trifuse.indexer.copying.left import revert_left

    refused: list[str] = []
    kept = keep_sentences(client, index, full=full, progress=progress)
    if kept.failed:
        refused.append(
            f"sentences of {kept.failed:,} documents of {index!r} were refused: {kept.reason}; put that "
            f"right, then `trifuse sync {index} --retry-failed`"
        )
    refused += revert_left(client, index)
    for copy in copies_of(client, index):
        try:
            catch_up(client, copy, progress=progress)
        except CopyTaken:
            continue  # it is being switched to: whoever does that has it caught up
        except CopyRefused as error:
            refused.append(str(error))
    return refused
