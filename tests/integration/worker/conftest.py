"""An encoder that is quick, counts its calls and does what a test asks of it; and indexes for it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import Role, TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.indexer.embedded import EmbeddedField, embedded_field
from trifuse.indexer.mapping import index_body

SPACE = EncoderSpace("test-hash", "1", "fp32", "cls", 4, True, "cosine")


class HashEncoder:
    """Vectors from a hash of the text; `before` runs before each call, `odd` holds vectors to return."""

    def __init__(self, space: EncoderSpace = SPACE) -> None:
        self.space = space
        self.provider = "cpu"
        self.calls: list[list[str]] = []
        self.before: Callable[[Sequence[str]], None] = lambda texts: None
        self.rejects: dict[str, str] = {}
        self.odd: dict[str, list[float]] = {}

    def vector(self, text: str) -> list[float]:
        digest = np.frombuffer(hashlib.sha256(text.encode()).digest()[:4], dtype=np.uint8) + 1.0
        return (digest / np.linalg.norm(digest)).tolist()

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        self.calls.append(list(texts))
        self.before(texts)
        rows = [self.odd.get(text, self.vector(text)) for text in texts]
        rejected = {row: self.rejects[text] for row, text in enumerate(texts) if text in self.rejects}
        vectors = np.array(rows, dtype=np.float32).reshape(len(texts), self.space.dimension)
        vectors[list(rejected)] = 0.0
        return Encoding(vectors, np.zeros(len(texts), dtype=np.bool_), rejected)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts, role="query").vectors

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts, role="document").vectors


@pytest.fixture
def hash_encoder() -> HashEncoder:
    return HashEncoder()


@pytest.fixture
def make_encoder() -> Callable[..., HashEncoder]:
    return HashEncoder


class Library:
    """An index of titles and shelves, of which the titles are embedded."""

    def __init__(
        self, client: OpenSearch, name: str, *, shards: int = 1, meta: dict[str, Any] | None = None
    ) -> None:
        self.client = client
        self.name = name
        self.space = Space(SPACE, TextTemplate(("title",)))
        body = index_body(
            {"title": {"type": "text"}, "shelf": {"type": "integer"}, "pages": {"type": "integer"}},
            spaces={VECTOR_FIELD: self.space},
            shards=shards,
            meta=meta,
        )
        client.indices.create(index=name, body=body)

    @property
    def target(self) -> EmbeddedField:
        return embedded_field(self.client, self.name, VECTOR_FIELD)

    def put(self, doc_id: str, title: str | None, *, routing: str | None = None) -> None:
        """Write a whole document, as its owner would."""
        extra = {"routing": routing} if routing else {}
        self.client.index(index=self.name, id=doc_id, body={"title": title, "shelf": 1}, params=extra)

    def edit(self, doc_id: str, **fields: Any) -> None:
        """Write a part of a document, as its owner would: marks and vector stay."""
        self.client.update(index=self.name, id=doc_id, body={"doc": fields})

    def get(self, doc_id: str, *, routing: str | None = None) -> dict[str, Any]:
        extra = {"routing": routing} if routing else {}
        found: dict[str, Any] = self.client.get(index=self.name, id=doc_id, params=extra)
        return found

    def last_writes(self) -> list[int]:
        """The number of the last write of each shard; equal numbers mean that nothing was written between."""
        shards = self.client.indices.stats(index=self.name, level="shards")["indices"][self.name]["shards"]
        return [copies[0]["seq_no"]["max_seq_no"] for _, copies in sorted(shards.items())]


@pytest.fixture
def library(client: OpenSearch, index_name: str) -> Library:
    return Library(client, index_name)


@pytest.fixture
def make_library(client: OpenSearch) -> Callable[..., Library]:
    def make(name: str, **options: Any) -> Library:
        return Library(client, name, **options)

    return make


@pytest.fixture
def plain_index(client: OpenSearch) -> Callable[[str], str]:
    """Makes an index that has nothing of ours."""

    def make(name: str) -> str:
        client.indices.create(index=name, body={"mappings": {"properties": {"title": {"type": "text"}}}})
        return name

    return make
