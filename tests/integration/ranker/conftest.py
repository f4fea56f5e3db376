"""A space of three dimensions whose distances can be worked out by hand, and indices in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker import ClickEvidence, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import queries_index, query_id, query_space
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


def _at(degrees: float) -> list[float]:
    turn = np.deg2rad(degrees)
    return [float(np.cos(turn)), float(np.sin(turn)), 0.0]


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
                source[VECTOR_FIELD] = _at(document["angle"])
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
def three(make_index: Callable[..., str]) -> str:
    """0°, 60°, 90° score 1, 0.75, 0.5: normalised 1, 0.5, 0."""
    return make_index(
        [
            {"_id": "near", "title": "near", "angle": 0},
            {"_id": "mid", "title": "mid", "angle": 60},
            {"_id": "far", "title": "far", "angle": 90},
        ]
    )


@pytest.fixture
def two_tenants(make_index: Callable[..., str]) -> Callable[..., str]:
    """Makes an index, by `make_index`, where tenant b's documents are nearer, and as good for BM25."""
    documents = [
        {
            "_id": f"{tenant}{n}",
            "title": "stroke" if n < 4 else "asthma",
            "tenant": tenant,
            "angle": n + (40 if tenant == "a" else 0),
        }
        for tenant in "ab"
        for n in range(20)
    ]
    return partial(make_index, documents)


@pytest.fixture
def embed_past(client: OpenSearch, tiny: TinyEncoder) -> Callable[[str, Mapping[str, float]], None]:
    """Gives past queries of an index vectors, as the workers would: so many degrees from the first axis."""

    def embed(index: str, degrees: Mapping[str, float]) -> None:
        for query, angle in degrees.items():
            marks = mark(VECTOR_FIELD, query_space(tiny.space).id, text_hash(query))
            body = {"doc": {VECTOR_FIELD: _at(angle), **marks}}
            client.update(
                index=queries_index(index), id=query_id(query), body=body, params={"refresh": "true"}
            )

    return embed


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
