"""What became of documents that were queued, read from the index and from the record of failures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH, MARKS
from trifuse.encoder.spaces import Space
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.failures import read_failures
from trifuse.indexer.hints import Hint
from trifuse.indexer.pending import Mark, mark_of, text_fields, wanted_mark
from trifuse.indexer.reading import PATIENT, find_places, get_documents
from trifuse.indexer.retry import Retry
from trifuse.indexer.scan import Pending

Verdict = Literal["embedded", "emptied", "failed", "gone"]


def judge(
    client: OpenSearch, target: EmbeddedField, items: Sequence[Pending], *, retry: Retry = PATIENT
) -> dict[Hint, Verdict]:
    """What became of queued documents; those that are still to be done are left out."""
    verdicts: dict[Hint, Verdict] = {}
    moved: list[tuple[Pending, Hint]] = []
    still: list[tuple[Pending, Hint]] = []
    found = _read(client, target, [item.hint for item in items], [f"{MARKS}.fields.{target.field}"], retry)
    places = _places(client, target.index, [item.hint for item in items if item.hint not in found], retry)
    found |= _read(client, target, set(places.values()), [f"{MARKS}.fields.{target.field}"], retry)
    for item in items:
        place = item.hint if item.hint in found else places.get(item.hint)
        if place is None:
            verdicts[item.hint] = "gone"
            continue
        document = found.get(place)  # None where searches show it, but its id doesn't lead to it
        if document is not None:
            mark = mark_of(document.get("_source", {}), target.field)
            # Numbers of another shard mean nothing: a document that moved is another version in any case.
            seq_no = document["_seq_no"] if place == item.hint else -1
            if mark is not None and is_written(item, mark, seq_no, target.space):
                verdicts[item.hint] = _done(mark)
                continue
            if seq_no != item.seq_no:
                moved.append((item, place))
        still.append((item, place))
    verdicts |= _put_back(client, target, moved, retry)
    known = read_failures(client, target, [place for _, place in still], retry=retry)
    for item, place in still:
        failed = known.get(place)
        if failed is not None and failed.space == target.space.id and failed.mark != item.failed:
            verdicts[item.hint] = "failed"
    return verdicts


def is_written(item: Pending, mark: Mark, seq_no: int, space: Space) -> bool:
    """Whether the document was embedded since it was found pending.

    What was missing may carry the right mark already, without a vector: then a newer version tells.
    """
    if mark.space != space.id or seq_no == item.seq_no:
        return False
    return item.state == "missing" or mark != item.mark


def _put_back(
    client: OpenSearch, target: EmbeddedField, moved: Iterable[tuple[Pending, Hint]], retry: Retry
) -> dict[Hint, Verdict]:
    """Stale documents whose owner has put the embedded text back: no worker writes these."""
    stale = [(item, place) for item, place in moved if item.state == "stale"]
    documents = _read(client, target, {place for _, place in stale}, text_fields(target), retry)
    verdicts: dict[Hint, Verdict] = {}
    for item, place in stale:
        source = documents.get(place, {}).get("_source", {})
        mark = mark_of(source, target.field)
        if mark is not None and mark == wanted_mark(source, target.space)[1]:
            verdicts[item.hint] = _done(mark)
    return verdicts


def _done(mark: Mark) -> Verdict:
    return "emptied" if mark.hash == EMPTY_HASH else "embedded"


def _read(
    client: OpenSearch, target: EmbeddedField, hints: Iterable[Hint], source: Sequence[str], retry: Retry
) -> dict[Hint, Mapping[str, Any]]:
    """The documents that are where their routing says."""
    asked = list(hints)
    items = get_documents(client, target.index, asked, source=source, retry=retry)
    return {hint: item for hint, item in zip(asked, items, strict=True) if item.get("found")}


def _places(client: OpenSearch, index: str, lost: Sequence[Hint], retry: Retry) -> dict[Hint, Hint]:
    """Where documents are that aren't where their routing says: deleted, and made again with another."""
    if not lost:
        return {}
    by_id = {
        place[0]: place for place in find_places(client, index, (doc_id for doc_id, _ in lost), retry=retry)
    }
    return {hint: by_id[hint[0]] for hint in lost if hint[0] in by_id}
