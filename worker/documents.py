"""Read the documents that hints point at: their text, their mark, and the version that these are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.hints import Hint
from trifuse.indexer.pending import Mark, State, mark_of, state_of, text_fields, wanted_mark
from trifuse.indexer.reading import find_by_ids, get_documents, refresh

_UNREAD = {"_seq_no": -1, "_primary_term": 0}


class Document(msgspec.Struct, frozen=True):
    """One document, as the worker needs it.

    Args:
        id, routing: where it is.
        seq_no, primary_term: the version that was read.
        text, wanted: its text ("" where it has none), and the mark that it should have.
        has_vector: whether the vector field holds something.
        state: whether it is as it should be.
        reachable: whether it can be written; else searches show it, but its id and routing don't lead to it.
    """

    id: str
    routing: str | None
    seq_no: int
    primary_term: int
    text: str
    wanted: Mark
    has_vector: bool
    state: State
    reachable: bool = True

    @property
    def hint(self) -> Hint:
        """Where it is: an id may stand in several shards, each time with another routing."""
        return self.id, self.routing


def read_documents(client: OpenSearch, target: EmbeddedField, hints: Sequence[Hint]) -> list[Document]:
    """The documents that exist; where two share an id, each by its routing.

    One that isn't where its routing says is looked up by its id.
    """
    found = _get(client, target, hints)
    lost = [hint for hint in hints if hint not in found]
    if lost:
        shown = _shown(client, target, lost)
        found |= {hint: shown[hint] for hint in lost if hint in shown} | _get(client, target, list(shown))
    return list(found.values())


def _shown(client: OpenSearch, target: EmbeddedField, hints: Sequence[Hint]) -> dict[Hint, Document]:
    """The documents of these ids, wherever they are."""
    refresh(client, target.index)
    ids = (doc_id for doc_id, _ in hints)
    hits = find_by_ids(client, target.index, ids, source=[*text_fields(target), target.field])
    documents = (_document({**_UNREAD, **hit}, target, reachable=False) for hit in hits)
    return {document.hint: document for document in documents}


def _get(client: OpenSearch, target: EmbeddedField, hints: Sequence[Hint]) -> dict[Hint, Document]:
    items = get_documents(client, target.index, hints, source=[*text_fields(target), target.field])
    documents = (_document(item, target) for item in items if item.get("found"))
    return {document.hint: document for document in documents}


def _document(item: Mapping[str, Any], target: EmbeddedField, *, reachable: bool = True) -> Document:
    source = item.get("_source", {})
    text, wanted = wanted_mark(source, target.space)
    has_vector = source.get(target.field) is not None
    return Document(
        id=item["_id"],
        routing=item.get("_routing"),
        seq_no=item["_seq_no"],
        primary_term=item["_primary_term"],
        text=text,
        wanted=wanted,
        has_vector=has_vector,
        state=state_of(mark_of(source, target.field), wanted, has_vector=has_vector),
        reachable=reachable,
    )
