"""What is pending in an index: documents that lack the vector of their text in the field's space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from opensearchpy import OpenSearch

from trifuse.encoder.marks import EMPTY_HASH, MARKS, hash_path, space_path
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import build_text, text_hash
from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.hints import Hint
from trifuse.indexer.reading import PATIENT, next_size, result_window, search
from trifuse.indexer.retry import Retry

State = Literal["current", "empty", "stale", "missing"]

PAGE = 500
"""Documents read at a time, at most: of long texts fewer, so that memory stays flat."""

_FIRST_PAGE = 25


class Mark(msgspec.Struct, frozen=True):
    """What stands beside a vector: the space's id, and the hash of the text."""

    space: str
    hash: str


def mark_of(source: Mapping[str, Any], field: str) -> Mark | None:
    """The field's mark in a document; None where it has none."""
    found = ((source.get(MARKS) or {}).get("fields") or {}).get(field) or {}
    if not found.get("space") or not found.get("hash"):
        return None
    return Mark(found["space"], found["hash"])


def wanted_mark(source: Mapping[str, Any], space: Space) -> tuple[str, Mark]:
    """The text of a document, and the mark that it should have; "" and the mark of emptiness without text."""
    text = build_text(source, space.template)
    return text, Mark(space.id, text_hash(text) if text else EMPTY_HASH)


def state_of(mark: Mark | None, wanted: Mark, *, has_vector: bool) -> State:
    """Whether a document is as it should be, and if not, why.

    >>> state_of(Mark("s", "old"), Mark("s", "new"), has_vector=True)
    'stale'
    """
    if mark is None or mark.space != wanted.space or has_vector is (mark.hash == EMPTY_HASH):
        return "missing"
    if mark != wanted:
        return "stale"
    return "empty" if mark.hash == EMPTY_HASH else "current"


def text_fields(target: EmbeddedField) -> list[str]:
    """The parts of `_source` that a text is made from, and the field's mark.

    Whole objects: OpenSearch picks top-level names from a document by looking them up, but makes an automaton
    for every document where a path is asked for, which takes longer than everything else in reading it.
    """
    return sorted({MARKS, *(field.split(".")[0] for field in target.space.template.fields)})


def embedded_query(target: EmbeddedField) -> dict[str, Any]:
    """Documents with a vector of the field's space."""
    return _bool(
        filter=[_term(space_path(target.field), target.space.id), {"exists": {"field": target.field}}],
        must_not=[_term(hash_path(target.field), EMPTY_HASH)],
    )


def empty_query(target: EmbeddedField) -> dict[str, Any]:
    """Documents that are marked as having no text, in the field's space."""
    return _bool(
        filter=[
            _term(space_path(target.field), target.space.id),
            _term(hash_path(target.field), EMPTY_HASH),
        ],
        must_not=[{"exists": {"field": target.field}}],
    )


def missing_query(target: EmbeddedField) -> dict[str, Any]:
    """Documents that are neither: what `state_of` calls missing."""
    return _bool(must_not=[embedded_query(target), empty_query(target)])


def marked_query(target: EmbeddedField) -> dict[str, Any]:
    """Documents that are either: those that may be stale."""
    return _bool(filter=[{"bool": {"should": [embedded_query(target), empty_query(target)]}}])


class Found(msgspec.Struct, frozen=True):
    """A document as a search shows it."""

    id: str
    routing: str | None
    seq_no: int
    source: Mapping[str, Any]

    @property
    def hint(self) -> Hint:
        """What a worker needs to find it."""
        return self.id, self.routing


def pages(
    client: OpenSearch,
    index: str,
    shard: int,
    query: Mapping[str, Any],
    *,
    after: int = -1,
    upto: int | None = None,
    source: Sequence[str] = (),
    size: int = PAGE,
    retry: Retry = PATIENT,
) -> Iterator[list[Found]]:
    """Documents of one shard that match, in the order in which they were last written.

    No point in time is needed: a document that is written meanwhile moves to the end of this order.

    Args:
        after, upto: only those whose `_seq_no` is greater than `after`, and at most `upto`.
        source: the parts of `_source` to read.
        size: documents a page at most; about `reading.PAGE_BYTES`, and no more than the index allows.
    """
    most = min(size, result_window(client, index, retry=retry))
    size = min(most, _FIRST_PAGE)
    while True:
        bounds = {"gt": after} if upto is None else {"gt": after, "lte": upto}
        body = {
            "query": _bool(filter=[query, {"range": {"_seq_no": bounds}}]),
            "sort": [{"_seq_no": "asc"}],
            "_source": list(source) or False,
            "size": size,
            "track_total_hits": False,
        }
        answer = search(client, index, body, params={"preference": f"_shards:{shard}|_primary"}, retry=retry)
        hits = answer["hits"]["hits"]
        if hits:
            yield [
                Found(hit["_id"], hit.get("_routing"), hit["sort"][0], hit.get("_source", {})) for hit in hits
            ]
            after = hits[-1]["sort"][0]
        if len(hits) < size:
            return
        size = next_size(size, sum(_length(hit.get("_source", {})) for hit in hits), most=most)


def _length(node: Any) -> int:
    """Characters of the texts in a part of a document."""
    if isinstance(node, str):
        return len(node)
    items = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return sum(map(_length, items))


def _bool(**clauses: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"bool": {name: list(listed) for name, listed in clauses.items()}}


def _term(path: str, value: str) -> dict[str, Any]:
    return {"term": {path: value}}
