"""What the tests of the click log share: an index with made-up vectors, and ways to read what is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.mapping import index_body
from trifuse.ranker.past_queries import normalize_query, queries_index, query_id, query_space
from trifuse.worker.clicks.intake import Intake

SPACE = EncoderSpace("made-up", "1", "fp32", "cls", 3, True, "cosine")
DOCUMENTS = [f"d{i}" for i in range(10)]


@pytest.fixture
def space() -> EncoderSpace:
    """The space of the made-up vectors: cosine, three dimensions."""
    return SPACE


@pytest.fixture
def make_index(client: OpenSearch, index_name: str) -> Callable[..., str]:
    """Makes the search index, with documents d0 to d9, embedded by an encoder or by none."""

    def make(encoder: EncoderSpace | None = SPACE, name: str = index_name) -> str:
        spaces = {VECTOR_FIELD: Space(encoder, TextTemplate(("title",)))} if encoder else None
        client.indices.create(index=name, body=index_body({"title": {"type": "text"}}, spaces=spaces))
        for doc in DOCUMENTS:
            client.index(index=name, id=doc, body={"title": doc})
        client.indices.refresh(index=name)
        return name

    return make


@pytest.fixture
def index(make_index: Callable[..., str]) -> str:
    """The name of a search index with documents d0 to d9."""
    return make_index()


@pytest.fixture
def intake(client: OpenSearch, redis_client: Redis, index: str) -> Intake:
    """The intake of the index's clicks."""
    return Intake(client, redis_client, index)


@pytest.fixture
def embed_query(client: OpenSearch, index_name: str) -> Callable[..., None]:
    """Gives a past query the vector that it is told, as the workers would."""

    def embed(query: str, vector: list[float], encoder: EncoderSpace = SPACE) -> None:
        marks = mark(VECTOR_FIELD, query_space(encoder).id, text_hash(query))
        client.update(
            index=queries_index(index_name),
            id=query_id(normalize_query(query)),
            body={"doc": {VECTOR_FIELD: np.asarray(vector, np.float32).tolist(), **marks}},
            params={"refresh": "true"},
        )

    return embed


@pytest.fixture
def aggregates(redis_client: Redis, index_name: str) -> Callable[[], dict[str, dict[str, float]]]:
    """Everything that is counted, key by key; the marks of counted events are left out."""

    def read() -> dict[str, dict[str, float]]:
        found: dict[str, Any] = {}
        for key in redis_client.scan_iter(match=f"trifuse:{{{index_name}}}:*", count=1000):
            if ":seen:" not in key:
                found[key] = dict(redis_client.zrange(key, 0, -1, withscores=True))
        return found

    return read


@pytest.fixture
def past_queries(client: OpenSearch, index_name: str) -> Callable[[], dict[str, dict[str, Any]]]:
    """The documents of past queries by id, without vectors."""

    def read() -> dict[str, dict[str, Any]]:
        name = queries_index(index_name)
        client.indices.refresh(index=name)
        body = {"size": 1000, "_source": {"excludes": [VECTOR_FIELD, "trifuse"]}}
        return {hit["_id"]: hit["_source"] for hit in client.search(index=name, body=body)["hits"]["hits"]}

    return read
