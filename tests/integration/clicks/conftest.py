"""What the tests of the click log share: an index with made-up vectors, and ways to read what is kept."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis
from redis.client import NEVER_DECODE

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.mapping import index_body
from trifuse.ranker.clicks.past_queries import normalize_query, queries_index, query_id, query_space
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import doc_hash, merged, pack
from trifuse.ranker.keys import clicks_key, docs_key, queries_key
from trifuse.worker.clicks.indexes import ensure_log
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
    """The intake of the index's clicks; every query is public."""
    return Intake(client, redis_client, index, min_visitors=1)


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
    """Everything that is counted for the index, see `_read`."""
    return lambda: _read(redis_client, index_name)


@pytest.fixture
def aggregates_of(redis_client: Redis) -> Callable[[str], dict[str, dict[str, float]]]:
    """Everything that is counted for an index, see `_read`."""
    return lambda index: _read(redis_client, index)


def _read(redis: Redis, index: str) -> dict[str, dict[str, float]]:
    """What is counted, by key without the index's name; marks and names of documents are left out.

    Records are added up: document to clicks, and "document shown" to the clicks that were expected, both as
    of 1.75e9. Of queries that aren't public: the clicks, and "query visitors" how many there were.
    """
    found: dict[str, dict[str, float]] = {}
    for key in redis.scan_iter(match=f"trifuse:{{{index}}}:*", count=1000):
        _, _, half_life, kind, *_ = key.split(":")
        counted: dict[str, float] = {}
        if kind == "queries":
            counted = {query: clicks_counted(clicks) or 0.0 for query, clicks in redis.hgetall(key).items()}
        elif kind == "few":
            for query, value in _call(redis, "HGETALL", key).items():
                clicks, strangers = struct.unpack_from("<II", value)
                counted[query.decode()] = clicks
                counted[f"{query.decode()} visitors"] = strangers + (len(value) - 8) // 8
        elif kind == "q":
            names = _call(redis, "HGETALL", key.rsplit(":q:")[0] + ":docs")
            sums = merged([_call(redis, "GET", key)], 1.75e9, float(half_life[1:]))
            for doc, clicks, expected in zip(
                sums.docs[sums.doc], sums.clicks.tolist(), sums.expected.tolist(), strict=True
            ):
                name = names.get(doc.tobytes(), doc.tobytes().hex().encode()).decode()
                counted |= ({name: clicks} if clicks else {}) | (
                    {f"{name} shown": expected} if expected else {}
                )
        if counted:
            found[key.split("}:", 1)[1]] = counted
    return found


def _call(redis: Redis, *command: str) -> Any:
    return redis.execute_command(*command, **{NEVER_DECODE: []})


@pytest.fixture
def past_queries(client: OpenSearch, index_name: str) -> Callable[[], dict[str, dict[str, Any]]]:
    """The documents of past queries by id, without vectors."""

    def read() -> dict[str, dict[str, Any]]:
        name = queries_index(index_name)
        client.indices.refresh(index=name)
        body = {"size": 1000, "_source": {"excludes": [VECTOR_FIELD, "trifuse"]}}
        return {hit["_id"]: hit["_source"] for hit in client.search(index=name, body=body)["hits"]["hits"]}

    return read


@pytest.fixture
def keep(
    client: OpenSearch, redis_client: Redis, index_name: str, space: EncoderSpace
) -> Callable[..., None]:
    """Keeps a past query as the workers do: its clicks in Redis and, with a vector, itself in OpenSearch."""

    def keep(
        query: str,
        clicks: Mapping[str, float],
        vector: list[float] | None = None,
        *,
        expected: Mapping[str, float] | None = None,
        encoder: EncoderSpace = space,
        public: bool = True,
        index: str = index_name,
    ) -> None:
        ensure_log(client, index)
        normalized = normalize_query(query)
        past = query_id(normalized)
        for doc, number in clicks.items():
            record = pack(doc_hash(doc), 1.75e9, number, (expected or {}).get(doc, 0.0))
            redis_client.append(clicks_key(index, 90.0, past), record)
            redis_client.hset(docs_key(index, 90.0), doc_hash(doc), doc)
        if public:
            redis_client.hincrby(queries_key(index, 90.0), past, round(sum(clicks.values())))
        if vector is not None:
            body = {
                "text": query,
                "normalized": normalized,
                VECTOR_FIELD: np.asarray(vector, np.float32).tolist(),
                **mark(VECTOR_FIELD, query_space(encoder).id, text_hash(query)),
            }
            client.index(index=queries_index(index), id=past, body=body, params={"refresh": "true"})

    return keep
