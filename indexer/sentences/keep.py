"""Keep sentences in step with their parents, whoever writes these."""

from __future__ import annotations

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.encoder.ours import sentences_in
from trifuse.encoder.spaces import serving_field, spaces_in_meta
from trifuse.indexer.behind import Index, index_known, indexes_behind, is_on
from trifuse.indexer.meta import change_meta
from trifuse.indexer.progress import Tell
from trifuse.indexer.sentences.keeper import Keeper, SentenceReport
from trifuse.indexer.sentences.origin import Origin, meta_with_origin, origin_in_meta


def keep_sentences(
    client: OpenSearch,
    index: str,
    *,
    full: bool = False,
    progress: Tell | None = None,
) -> SentenceReport:
    """Bring the sentences of an index, or of each one behind an alias, in step with their parents.

    Their vectors are left to `sync`. An index without sentences is left alone, and so are sentences that
    belong to another index that still takes writes.

    Args:
        full: read all parents, and compare all ids.
        progress: told how far it has come, page by page; what it raises ends it there, and the next one goes
            on.

    Raises:
        IndexMissing: there is no such index.
        IndexBlocked: the index of the sentences takes no writes.
        ServerUnavailable: OpenSearch was away for longer than a restart takes; do the same again.
    """
    report = SentenceReport()
    for parent in indexes_behind(client, index):
        keeper = _keeper(client, parent)
        if keeper is None:
            continue
        for step in keeper.run(full=full):
            if progress is not None:
                progress(step)
        report = report + keeper.report
    return report


def _keeper(client: OpenSearch, parent: Index) -> Keeper | None:
    """What keeps the sentences of this index; None where it has none, or they are another index's."""
    name = sentences_in(parent.meta)
    if name is None:
        return None
    try:
        mapping = client.indices.get_mapping(index=name)[name]["mappings"]
    except (NotFoundError, KeyError):
        return None
    meta = mapping.get("_meta")
    field = serving_field(meta)
    if field is None:
        return None
    origin = origin_in_meta(meta)
    # What an earlier version has loaded names none.
    own = Origin(parent.name, parent.uuid, trials=True, chosen=True)
    if origin is not None:
        own = msgspec.structs.replace(origin, index=parent.name, uuid=parent.uuid)
    if origin != own:
        if origin is not None and _takes_writes(client, origin):
            return None
        change_meta(client, name, lambda known: meta_with_origin(known, own))
    return Keeper(client, parent.name, own, name, field, spaces_in_meta(meta)[field])


def _takes_writes(client: OpenSearch, origin: Origin) -> bool:
    """Whether the index is there, and may change. After a switch to its copy it is blocked."""
    index = index_known(client, origin.index, origin.uuid)
    return index is not None and not is_on((index.settings.get("blocks") or {}).get("write"))
