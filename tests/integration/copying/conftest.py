"""Sources to copy, made for each test; nothing is encoded by a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.copying import Copy, begin
from trifuse.indexer.hints import Enqueue, Hint

Snapshot = dict[tuple[str, str | None], dict[str, Any]]


@pytest.fixture
def space() -> Space:
    """A space of 4 dimensions, of the titles."""
    return Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))


@pytest.fixture
def source(client: OpenSearch, index_name: str) -> Iterator[str]:
    """An index without k-NN, of two shards and twenty documents, behind the alias `NAME-live`."""
    name = f"{index_name}-v1"
    client.indices.create(
        index=name,
        body={
            "settings": {"number_of_shards": 2, "number_of_replicas": 0},
            "mappings": {"properties": {"title": {"type": "text"}}},
            "aliases": {f"{index_name}-live": {"is_write_index": True}},
        },
    )
    lines: list[dict[str, Any]] = []
    for number in range(20):
        lines += [{"index": {"_id": str(number)}}, {"title": f"title {number}", "n": number}]
    client.bulk(index=name, body=lines, refresh=True)
    yield name


@pytest.fixture
def live(index_name: str) -> str:
    """The alias that the source stands behind."""
    return f"{index_name}-live"


@pytest.fixture
def begun(client: OpenSearch, source: str, live: str, space: Space) -> Copy:
    """An empty copy of the source."""
    return begin(client, source, alias=live, space_field=("trifuse_vector", space))


@pytest.fixture
def snapshot(client: OpenSearch) -> Callable[[str], Snapshot]:
    """Reads the owner's part of every document of an index, by id and routing."""

    def read(index: str) -> Snapshot:
        client.indices.refresh(index=index)
        hits = client.search(index=index, body={"size": 10_000, "sort": ["_doc"]})["hits"]["hits"]
        ours = (MARKS, "trifuse_vector", "trifuse_vector_2")
        return {
            (hit["_id"], hit.get("_routing")): {k: v for k, v in hit["_source"].items() if k not in ours}
            for hit in hits
        }

    return read


@pytest.fixture
def enqueue(client: OpenSearch) -> Enqueue:
    """Writes a vector at once for every document that is queued, as a worker would."""

    def write(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        lines: list[dict[str, Any]] = []
        for doc_id, _ in ids:
            found = client.get(index=index, id=doc_id, params={"_source": "title", "ignore": 404})
            if not found["found"]:
                continue
            marks = mark(field, space.id, text_hash(found["_source"]["title"]))
            lines += [{"update": {"_id": doc_id}}, {"doc": {field: [1.0, 0.0, 0.0, 0.0], **marks}}]
        if lines:
            client.bulk(index=index, body=lines)

    return write
