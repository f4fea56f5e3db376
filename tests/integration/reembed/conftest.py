"""An index of titles in one space, and encoders of hashes in two, which embed where they are asked to."""

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
from trifuse.indexer.hints import Hint
from trifuse.indexer.mapping import index_body
from trifuse.worker.embedding import embed

OLD = EncoderSpace("test-old", "1", "fp32", "cls", 4, True, "cosine")
NEW = EncoderSpace("test-new", "1", "fp32", "cls", 8, True, "cosine")


class HashEncoder:
    """Unit vectors from a hash of the text; texts of `rejects` can't be encoded."""

    def __init__(self, space: EncoderSpace) -> None:
        self.space = space
        self.provider = "cpu"
        self.calls: list[str] = []
        self.rejects: dict[str, str] = {}

    def vector(self, text: str) -> list[float]:
        digest = hashlib.sha256(text.encode()).digest()[: self.space.dimension]
        row = np.frombuffer(digest, dtype=np.uint8) + 1.0
        return (row / np.linalg.norm(row)).tolist()

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        self.calls += list(texts)
        rejected = {row: self.rejects[text] for row, text in enumerate(texts) if text in self.rejects}
        vectors = np.array([self.vector(text) for text in texts], dtype=np.float32)
        vectors = vectors.reshape(len(texts), self.space.dimension)
        vectors[list(rejected)] = 0.0
        return Encoding(vectors, np.zeros(len(texts), dtype=np.bool_), rejected)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts, role="query").vectors

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts, role="document").vectors


class Workers:
    """The encoders of both spaces; what is queued is embedded at once. `before` runs before each batch."""

    def __init__(self, client: OpenSearch) -> None:
        self.client = client
        self.old, self.new = HashEncoder(OLD), HashEncoder(NEW)
        self.before: Callable[[], None] = lambda: None

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        self.before()
        encoder = {OLD.id: self.old, NEW.id: self.new}[space.encoder.id]
        embed(self.client, encoder, index, field, ids)


@pytest.fixture
def workers(client: OpenSearch) -> Workers:
    return Workers(client)


@pytest.fixture
def titles(client: OpenSearch, index_name: str, workers: Workers) -> str:
    """Three titles and a document without one, embedded in the old space."""
    space = Space(OLD, TextTemplate(("title",)))
    properties = {"title": {"type": "text"}, "pages": {"type": "integer"}}
    client.indices.create(index=index_name, body=index_body(properties, spaces={VECTOR_FIELD: space}))
    for number, title in enumerate(["The lighthouse", "The harbour", "The quay", ""]):
        client.index(index=index_name, id=str(number), body={"title": title, "pages": number})
    client.indices.refresh(index=index_name)
    workers(index_name, VECTOR_FIELD, space, [(str(number), None) for number in range(4)])
    client.indices.refresh(index=index_name)
    return index_name
