"""A space of three dimensions whose distances can be worked out by hand, and indices in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker import ClickEvidence, HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
PROPERTIES: dict[str, Any] = {
    "title": {"type": "text", "analyzer": "english"},
    "tenant": {"type": "keyword"},
    "year": {"type": "integer"},
    "code": {"type": "keyword", "store": True},
    "arms": {"type": "nested", "properties": {"name": {"type": "text"}, "kind": {"type": "keyword"}}},
}


class TinyEncoder:
    """Every text at (1, 0, 0): the nearer a document's vector to the first axis, the better it is."""

    space = SPACE
    provider = "cpu"

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([[1.0, 0.0, 0.0]] * len(texts), dtype=np.float32)


class GivenClicks:
    """A click log that knows one answer."""

    def __init__(self, scores: Mapping[str, float]) -> None:
        self.scores = scores

    def lookup(
        self,
        index: str,
        text: str,
        vector: Vectors | None = None,
        *,
        space: EncoderSpace | None = None,
        budget_s: float = 0.3,
        settings: ClickSettings = ClickSettings(),  # noqa: B008 - frozen
        leave_one_out: bool = False,
    ) -> ClickEvidence:
        return ClickEvidence(self.scores)


@pytest.fixture
def tiny() -> TinyEncoder:
    return TinyEncoder()


@pytest.fixture
def given_clicks() -> Callable[[Mapping[str, float]], GivenClicks]:
    return GivenClicks


@pytest.fixture
def make_index(client: OpenSearch, index_name: str) -> Callable[..., str]:
    """Makes an index of documents `{"_id": "1", "angle": degrees from the first axis, ...}`."""

    def make(
        documents: Sequence[Mapping[str, Any]],
        *,
        suffix: str = "",
        aliases: Mapping[str, Any] | None = None,
        vectors: bool = True,
        shards: int = 1,
    ) -> str:
        name = index_name + suffix
        properties = dict(PROPERTIES)
        meta = None
        if vectors:
            meta = meta_with_space(None, VECTOR_FIELD, Space(SPACE, TextTemplate(("title",))))
            method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
            properties[VECTOR_FIELD] = {"type": "knn_vector", "dimension": 3, "method": method}
        client.indices.create(
            index=name,
            body={
                "settings": {"index.knn": vectors, "number_of_replicas": 0, "number_of_shards": shards},
                "mappings": {"dynamic": "strict", "_meta": meta or {}, "properties": properties},
                "aliases": dict(aliases or {}),
            },
        )
        lines: list[Any] = []
        for document in documents:
            source = {
                key: value for key, value in document.items() if key not in ("_id", "angle", "_routing")
            }
            if "angle" in document:
                turn = np.deg2rad(document["angle"])
                source[VECTOR_FIELD] = [float(np.cos(turn)), float(np.sin(turn)), 0.0]
            action = {"_index": name, "_id": document["_id"]}
            if "_routing" in document:
                action["routing"] = document["_routing"]
            lines += [{"index": action}, source]
        for start in range(0, len(lines), 4000):
            answer = client.bulk(body=lines[start : start + 4000])
            assert not answer["errors"]
        client.indices.refresh(index=name)
        return name

    return make


@pytest.fixture
def search_natively(client: OpenSearch, tiny: TinyEncoder) -> Callable[..., dict[str, Any]]:
    """Searches natively, by a native profile unless another is given; `clicks` is what the log says."""

    def run(
        index: str, body: Any, clicks: Mapping[str, float] | None = None, text: str = "stroke", **more: Any
    ) -> dict[str, Any]:
        profile = Profile(weights={"lexical": 1, "dense": 1}, execution="native")
        found: dict[str, Any] = HybridRanker(client, tiny, GivenClicks(clicks or {}), profile).search(
            index, body, text=text, **more
        )
        assert found["trifuse"]["execution"] == "native"
        return found

    return run
