"""Documents that one of two indexes lacks: found by comparing ids, shard by shard."""

from __future__ import annotations

from collections.abc import Iterator

from opensearchpy import OpenSearch

from trifuse.indexer.actions import Action
from trifuse.indexer.copying.copies import Copy
from trifuse.indexer.copying.raw import RawHit, raw_documents, raw_pages
from trifuse.indexer.copying.writing import CONFLICT, through_door
from trifuse.indexer.cursors import settled_shards


def delete_missing(client: OpenSearch, copy: Copy) -> int:
    """Delete from the copy what its source has no more; how many. Both are refreshed."""
    outcomes = through_door(client, copy, _deletions(client, copy))
    return sum(1 for outcome in outcomes if outcome.ok and outcome.status != CONFLICT)


def _deletions(client: OpenSearch, copy: Copy) -> Iterator[Action]:
    for hit in missing_in(client, copy.source, there=copy.index):
        yield Action(
            op="delete",
            index=copy.door,
            id=hit.id,
            routing=hit.routing,
            if_seq_no=hit.seq_no,
            if_primary_term=hit.primary_term,
        )


def missing_in(client: OpenSearch, index: str, *, there: str) -> Iterator[RawHit]:
    """The documents of the index `there` that `index` lacks, by id and routing, without their source."""
    for shard in settled_shards(client, there):
        for page in raw_pages(client, there, shard, source=False):
            found = raw_documents(client, index, [(hit.id, hit.routing) for hit in page], source=False)
            yield from (hit for hit, item in zip(page, found, strict=True) if not item.found)
