"""What became of documents that were queued, read from the index and from the record of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH, MARKS
from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.failures import read_failures
from trifuse.indexer.pending import Mark, mark_of
from trifuse.indexer.reading import get_documents
from trifuse.indexer.scan import Pending

Verdict = Literal["embedded", "emptied", "failed", "gone"]


def judge(client: OpenSearch, target: EmbeddedField, items: Sequence[Pending]) -> dict[str, Verdict]:
    """What became of queued documents, by id; those that are still to be done are left out."""
    wanted = [
        {
            "_id": item.id,
            "_source": [f"{MARKS}.fields.{target.field}"],
            **({} if item.routing is None else {"routing": item.routing}),
        }
        for item in items
    ]
    verdicts: dict[str, Verdict] = {}
    open_items: list[Pending] = []
    for item, found in zip(items, get_documents(client, target.index, wanted), strict=True):
        if not found.get("found"):
            verdicts[item.id] = "gone"
            continue
        mark = mark_of(found.get("_source", {}), target.field)
        if mark is not None and is_written(item, mark, found["_seq_no"], target.space):
            verdicts[item.id] = "emptied" if mark.hash == EMPTY_HASH else "embedded"
        else:
            open_items.append(item)
    known = read_failures(client, target, [item.id for item in open_items])
    for item in open_items:
        failed = known.get(item.id)
        if failed is not None and failed.space == target.space.id and failed.mark != item.failed:
            verdicts[item.id] = "failed"
    return verdicts


def is_written(item: Pending, mark: Mark, seq_no: int, space: Space) -> bool:
    """Whether the document was embedded since it was found pending.

    What was missing may carry the right mark already, without a vector: then a newer version tells.
    """
    if mark.space != space.id or seq_no == item.seq_no:
        return False
    return item.state == "missing" or mark != item.mark
