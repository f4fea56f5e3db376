"""Vectors in an index without `index.knn`: scored one by one, on the scale of k-NN scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace, Similarity, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoding, Vectors
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.errors import ProfileNotNative

VECTORS = {"0": (1, 0), "1": (0.6, 0.8), "2": (-1, 0.5), "3": (3, 4), "4": None, "5": (-0.8, -0.6)}
"""The query is at (0.8, 0.6)."""
COSINES = {"1": 0.96, "3": 0.96, "0": 0.8, "2": -0.5 / 1.25**0.5, "5": -1.0}
PRODUCTS = {"3": 4.8, "1": 0.96, "0": 0.8, "2": -0.5, "5": -1.0}
DENSE = Profile(weights={"dense": 1}, normalization="none")


class Encoder:
    """Every query at (0.8, 0.6)."""

    provider = "cpu"

    def __init__(self, similarity: Similarity) -> None:
        self.space = EncoderSpace("tiny", "r1", "fp32", "cls", 2, False, similarity)

    def encode(self, texts: Sequence[Any], *, role: Any) -> Encoding:
        raise NotImplementedError

    def encode_documents(self, texts: Sequence[str]) -> Vectors:
        raise NotImplementedError

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([[0.8, 0.6]] * len(texts), dtype=np.float32)


COSINE, DOT = Encoder("cosine"), Encoder("dot")


def make(client: OpenSearch, name: str, encoder: Encoder, *, knn: bool = False, alias: str = "") -> None:
    """The documents above; the even ones have a title with the word stroke."""
    field: dict[str, Any] = {"type": "knn_vector", "dimension": 2}
    if knn:
        space_type = "innerproduct" if encoder is DOT else "cosinesimil"
        field["method"] = {"name": "hnsw", "engine": "lucene", "space_type": space_type}
    meta = meta_with_space(None, "trifuse_vector", Space(encoder.space, TextTemplate(("title",))))
    properties = {"title": {"type": "text"}, "parity": {"type": "keyword"}, "trifuse_vector": field}
    settings: dict[str, Any] = {"number_of_shards": 2, "number_of_replicas": 0}
    if knn:
        settings["index.knn"] = True
    body = {"settings": settings, "mappings": {"_meta": meta, "properties": properties}}
    client.indices.create(index=name, body=body | ({"aliases": {alias: {}}} if alias else {}))
    lines: list[dict[str, Any]] = []
    for id, vector in VECTORS.items():
        parity, title = ("odd", "asthma") if int(id) % 2 else ("even", "stroke")
        source: dict[str, Any] = {"title": title, "parity": parity}
        source |= {"trifuse_vector": vector} if vector else {}
        lines += [{"index": {"_index": name, "_id": id}}, source]
    assert not client.bulk(body=lines, params={"refresh": "true"})["errors"]


def similarities(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: hit["trifuse"]["legs"]["dense"]["similarity"] for hit in response["hits"]["hits"]}


@pytest.mark.parametrize(("encoder", "expected"), [(COSINE, COSINES), (DOT, PRODUCTS)])
def test_exact_scores_are_those_of_a_knn_query(
    client: OpenSearch, index_name: str, encoder: Encoder, expected: dict[str, float]
) -> None:
    make(client, f"{index_name}-exact", encoder)
    make(client, f"{index_name}-knn", encoder, knn=True)
    ranker = HybridRanker(client, encoder, profile=DENSE)
    exact, knn = (ranker.search(f"{index_name}-{kind}", text="x") for kind in ("exact", "knn"))
    assert similarities(exact) == pytest.approx(expected, abs=1e-5)
    assert list(similarities(exact)) == list(similarities(knn))
    scores = [[hit["_score"] for hit in each["hits"]["hits"]] for each in (exact, knn)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
    leg = exact["trifuse"]["legs"]["dense"]
    assert (leg["exact"], leg["candidates"], leg["hits"]) == (True, "filters", 5)
    assert "exact" not in knn["trifuse"]["legs"]["dense"]


def test_many_vectors_are_scored_among_the_lexical_matches_alone(
    client: OpenSearch, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trifuse.ranker.exact.EXACT_LIMIT", 3)
    make(client, index_name, COSINE)
    ranker = HybridRanker(client, COSINE, profile=DENSE)
    body = {"query": {"match": {"title": "stroke"}}}
    response = ranker.search(index_name, body, text="x")
    assert response["trifuse"]["legs"]["dense"]["candidates"] == "lexical"
    # "4" matches as well, but has no vector
    assert similarities(response) == pytest.approx({"0": 0.8, "2": COSINES["2"]}, abs=1e-5)
    # 3 of the 5 are odd: no more than the limit
    odd = ranker.search(index_name, body, text="x", filter={"term": {"parity": "odd"}})
    assert odd["trifuse"]["legs"]["dense"]["candidates"] == "filters"
    assert similarities(odd) == pytest.approx({id: COSINES[id] for id in ("1", "3", "5")}, abs=1e-5)


def test_an_alias_over_an_exact_and_a_knn_index(client: OpenSearch, index_name: str) -> None:
    make(client, f"{index_name}-1", COSINE, alias=index_name)
    make(client, f"{index_name}-2", COSINE, knn=True, alias=index_name)
    client.indices.create(index=f"{index_name}-3", body={"aliases": {index_name: {}}})
    response = HybridRanker(client, COSINE, profile=DENSE).search(index_name, text="x", size=20)
    leg = response["trifuse"]["legs"]["dense"]
    assert (leg["state"], leg["exact"], leg["hits"]) == ("ok", True, 10)
    assert leg["reason"] == f"no vectors in {index_name}-3"
    assert similarities(response) == pytest.approx(COSINES, abs=1e-5)


def test_all_legs_together_and_a_page(client: OpenSearch, index_name: str) -> None:
    make(client, index_name, COSINE)
    ranker = HybridRanker(client, COSINE, profile=Profile(weights={"lexical": 0.5, "dense": 0.5}))
    body = {"query": {"match": {"title": "stroke"}}, "size": 2, "from": 2}
    response = ranker.search(index_name, body, text="x")
    assert response["hits"]["total"] == {"value": 6, "relation": "eq"}
    assert len(response["hits"]["hits"]) == 2


def test_natively_it_is_refused(client: OpenSearch, index_name: str) -> None:
    make(client, index_name, COSINE)
    native = Profile(weights={"lexical": 0.5, "dense": 0.5}, normalization="min_max", execution="native")
    with pytest.raises(ProfileNotNative, match="take the execution 'client'"):
        HybridRanker(client, COSINE, profile=native).search(index_name, text="x")
    lexical = Profile(weights={"lexical": 1}, normalization="min_max", execution="native")
    assert HybridRanker(client, COSINE, profile=lexical).search(index_name, text="stroke")["hits"]["hits"]
