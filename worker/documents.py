"""Read the documents that hints point at: their text, their mark, and the version that these are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch

from trifuse.indexer.embedded import EmbeddedField
from trifuse.indexer.pending import Mark, State, mark_of, state_of, text_fields, wanted_mark
from trifuse.indexer.reading import get_documents, search


class Document(msgspec.Struct, frozen=True):
    """One document, as the worker needs it.

    Args:
        id, routing: where it is.
        seq_no, primary_term: the version that was read.
        text, wanted: its text ("" where it has none), and the mark that it should have.
        has_vector: whether the vector field holds something.
        state: whether it is as it should be.
    """

    id: str
    routing: str | None
    seq_no: int
    primary_term: int
    text: str
    wanted: Mark
    has_vector: bool
    state: State


def read_documents(
    client: OpenSearch, target: EmbeddedField, ids: Mapping[str, str | None]
) -> list[Document]:
    """The documents that exist. One that isn't where its routing says is looked up by its id."""
    found = _get(client, target, ids)
    lost = [doc_id for doc_id in ids if doc_id not in found]
    if lost:
        found |= _get(client, target, _routings(client, target.index, lost))
    return [document for doc_id in ids if (document := found.get(doc_id)) is not None]


def _get(client: OpenSearch, target: EmbeddedField, ids: Mapping[str, str | None]) -> dict[str, Document]:
    parts = [*text_fields(target), target.field]
    wanted = [
        {"_id": doc_id, "_source": parts, **({} if routing is None else {"routing": routing})}
        for doc_id, routing in ids.items()
    ]
    items = get_documents(client, target.index, wanted)
    return {item["_id"]: _document(item, target) for item in items if item.get("found")}


def _routings(client: OpenSearch, index: str, ids: Sequence[str]) -> dict[str, str | None]:
    """Where documents are that weren't where they should be; nothing for those that don't exist."""
    body = {"query": {"ids": {"values": list(ids)}}, "_source": False, "size": len(ids)}
    answer = search(client, index, body)
    return {hit["_id"]: hit.get("_routing") for hit in answer["hits"]["hits"]}


def _document(item: Mapping[str, Any], target: EmbeddedField) -> Document:
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
    )
