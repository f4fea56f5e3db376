"""Legs that are missing or broken, indices that differ or move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.encoder.types import Encoder
from trifuse.ranker import ClickStore, HybridRanker, Profile, SearchRejected
from trifuse.ranker.errors import IndexMissing, SearchUnavailable

STROKE = {"query": {"match": {"title": "stroke"}}}
DOCUMENTS = [
    {"_id": "1", "title": "stroke", "angle": 30},
    {"_id": "2", "title": "asthma", "angle": 0},
]


def ids(response: dict[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def leg(response: dict[str, Any], name: str) -> tuple[str, str | None]:
    found = response["trifuse"]["legs"][name]
    return found["state"], found["reason"]


def test_lexical_alone(client: OpenSearch, make_index: Callable[..., str]) -> None:
    response = HybridRanker(client).search(make_index(DOCUMENTS), STROKE, text="stroke")
    assert ids(response) == ["1"]
    assert leg(response, "dense") == ("off", "no encoder")
    assert leg(response, "clicks") == ("off", "no click store")
    assert response["hits"]["total"] == {"value": 1, "relation": "eq"}


def test_an_index_without_vectors(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    documents = [{"_id": "1", "title": "stroke"}]
    index = make_index(documents, vectors=False)
    ranker = HybridRanker(client, tiny)
    for body in (STROKE, None):
        response = ranker.search(index, body, text="stroke")
        assert ids(response) == ["1"]
        assert leg(response, "dense")[0] == "off"


def test_dense_alone(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    ranker = HybridRanker(client, tiny, profile=Profile(weights={"dense": 1}))
    response = ranker.search(
        make_index(DOCUMENTS), {**STROKE, "aggs": {"n": {"value_count": {"field": "_index"}}}}, text="stroke"
    )
    assert ids(response) == ["2", "1"]
    assert leg(response, "lexical") == ("off", "weight 0 in the profile 'default'")
    assert response["aggregations"]["n"]["value"] == 1
    assert "aggregations" not in ranker.search(make_index(DOCUMENTS, suffix="-2"), STROKE, text="stroke")


def test_c6_redis_is_down(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    ranker = HybridRanker(client, tiny, ClickStore(Redis(host="127.0.0.1", port=1), client))
    response = ranker.search(make_index(DOCUMENTS), STROKE, text="stroke")
    assert sorted(ids(response)) == ["1", "2"]
    state, reason = leg(response, "clicks")
    assert state == "failed"
    assert "didn't answer" in str(reason)
    assert response["trifuse"]["legs"]["clicks"]["took_ms"] < 1000


def test_a_dense_leg_that_the_server_refuses(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    """The mapping promises a vector field that isn't one."""
    index = make_index([{"_id": "1", "title": "stroke"}])
    meta = meta_with_space(None, "title", Space(tiny.space, TextTemplate(("title",))))
    client.indices.put_mapping(index=index, body={"_meta": meta})
    ranker = HybridRanker(client, tiny, profile=Profile(vector_field="title"))
    response = ranker.search(index, STROKE, text="stroke")
    assert ids(response) == ["1"]
    state, reason = leg(response, "dense")
    assert state == "failed"
    assert "title" in str(reason)


def test_the_users_own_query_is_refused_with_opensearchs_error(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    index = make_index(DOCUMENTS)
    ranker = HybridRanker(client, tiny)
    with pytest.raises(SearchRejected, match=r"unknown query \[nope\]") as refused:
        ranker.search(index, {"query": {"nope": {}}}, text="stroke")
    assert refused.value.status == 400
    with pytest.raises(SearchRejected, match="failed to create query") as refused:
        ranker.search(index, {"query": {"range": {"year": {"gte": "soon"}}}}, text="stroke")
    assert refused.value.error["type"] == "search_phase_execution_exception"


def test_no_such_index(client: OpenSearch, index_name: str) -> None:
    with pytest.raises(IndexMissing, match=index_name):
        HybridRanker(client).search(index_name, text="stroke")


def test_no_opensearch() -> None:
    nobody = OpenSearch(["http://127.0.0.1:1"], max_retries=0)
    with pytest.raises(SearchUnavailable, match="didn't answer"):
        HybridRanker(nobody).search("i", text="stroke")
    nobody.close()


def test_another_space_is_an_error_before_any_search(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    index = make_index(DOCUMENTS)
    tiny.space = EncoderSpace("tiny", "r2", "fp32", "cls", 3, True, "cosine")
    with pytest.raises(SpaceMismatch, match=index):
        HybridRanker(client, tiny).search(index, STROKE, text="stroke")


def test_several_indices_of_which_one_has_no_vectors(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    """The same id in two indices is two documents, each fetched from its own."""
    one = make_index(DOCUMENTS, suffix="-1")
    two = make_index([{"_id": "1", "title": "stroke in adults"}], suffix="-2", vectors=False)
    response = HybridRanker(client, tiny).search([one, two], {**STROKE, "_source": ["title"]}, text="stroke")
    found = {(hit["_index"], hit["_id"]): hit["_source"]["title"] for hit in response["hits"]["hits"]}
    assert found == {(one, "1"): "stroke", (one, "2"): "asthma", (two, "1"): "stroke in adults"}
    assert leg(response, "dense") == ("ok", f"no vectors in {two}")


def test_an_alias_that_is_moved_to_another_space_is_noticed(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    old, new = make_index(DOCUMENTS, suffix="-old"), make_index(DOCUMENTS, suffix="-new")
    alias = f"{old}-live"
    client.indices.put_alias(index=old, name=alias)
    ranker = HybridRanker(client, tiny)
    assert sorted(ids(ranker.search(alias, STROKE, text="stroke"))) == ["1", "2"]
    other = EncoderSpace("tiny", "r2", "fp32", "cls", 3, True, "cosine")
    meta = meta_with_space(None, "trifuse_vector", Space(other, TextTemplate(("title",))))
    client.indices.put_mapping(index=new, body={"_meta": meta})
    client.indices.update_aliases(
        body={
            "actions": [{"remove": {"index": old, "alias": alias}}, {"add": {"index": new, "alias": alias}}]
        }
    )
    with pytest.raises(SpaceMismatch, match=new):
        ranker.search(alias, STROKE, text="stroke")


def test_the_real_encoder_finds_what_words_do_not(
    client: OpenSearch, index_name: str, encoder: Encoder
) -> None:
    template = TextTemplate(("title",))
    method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
    vector = {"type": "knn_vector", "dimension": encoder.space.dimension, "method": method}
    client.indices.create(
        index=index_name,
        body={
            "settings": {"index.knn": True, "number_of_replicas": 0},
            "mappings": {
                "_meta": meta_with_space(None, "trifuse_vector", Space(encoder.space, template)),
                "properties": {"title": {"type": "text", "analyzer": "english"}, "trifuse_vector": vector},
            },
        },
    )
    titles = {
        "heart": "Early aspirin after myocardial infarction",
        "skin": "Phototherapy of psoriasis in adolescents",
        "teeth": "Fluoride varnish against caries",
    }
    vectors = encoder.encode_documents([build_text({"title": title}, template) for title in titles.values()])
    lines: list[Any] = []
    for (id, title), row in zip(titles.items(), vectors, strict=True):
        lines += [{"index": {"_id": id}}, {"title": title, "trifuse_vector": row.tolist()}]
    client.bulk(index=index_name, body=lines, params={"refresh": "true"})
    ranker = HybridRanker(client, encoder)
    response = ranker.search(index_name, text="heart attack")
    assert ids(response)[0] == "heart"
    assert leg(response, "lexical") == ("empty", "no document matches")
    cosine = response["hits"]["hits"][0]["trifuse"]["legs"]["dense"]["similarity"]
    (query,) = encoder.encode_queries(["heart attack"])
    assert cosine == pytest.approx(float(query @ vectors[0]), abs=1e-4)
