"""Each key of the user's body and URL is right, or refused before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import BodyError, HybridRanker, Profile

QUERY = {"match": {"title": "stroke"}}


@pytest.fixture
def index(make_index: Callable[..., str]) -> str:
    """`near` is brought by the dense leg alone."""
    return make_index(
        [
            {"_id": "near", "title": "asthma", "tenant": "b", "year": 1999, "code": "N", "angle": 0},
            {
                "_id": "one",
                "title": "stroke in adults",
                "tenant": "a",
                "year": 2001,
                "code": "O",
                "angle": 20,
                "arms": [{"name": "aspirin", "kind": "drug"}, {"name": "placebo", "kind": "drug"}],
            },
            {"_id": "two", "title": "stroke", "tenant": "a", "year": 2002, "code": "T", "angle": 40},
        ]
    )


@pytest.fixture
def ranker(client: OpenSearch, tiny: Any) -> HybridRanker:
    return HybridRanker(client, tiny)


def by_id(response: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {hit["_id"]: hit for hit in response["hits"]["hits"]}


def test_f11_refused_before_anything_is_sent() -> None:
    unsent = HybridRanker(cast(OpenSearch, None))
    for body in (
        {"sort": ["year"]},
        {"search_after": [1]},
        {"profile": True},
        {"min_score": 1},
        {"terminate_after": 10},
        {"indices_boost": [{"i": 2}]},
        {"pit": {"id": "x"}},
        {"slice": {"id": 0, "max": 2}},
        {"query": {"hybrid": {"queries": []}}},
        {"query": {"knn": {"v": {}}}},
        {"query": {"neural": {"v": {}}}},
        {"nonsense": 1},
    ):
        with pytest.raises(BodyError):
            unsent.search("i", body, text="stroke")
    for name in ("filter_path", "scroll", "nonsense"):
        with pytest.raises(BodyError):
            unsent.search("i", {}, text="stroke", params={name: "x"})
    with pytest.raises(BodyError):
        unsent.search("i", {}, text=cast(str, None))


def test_f11_what_shapes_a_hit_is_as_in_a_plain_search(
    client: OpenSearch, index: str, ranker: HybridRanker
) -> None:
    body = {
        "query": QUERY,
        "highlight": {"fields": {"title": {"pre_tags": "<b>", "post_tags": "</b>"}}},
        "_source": ["title", "year"],
        "stored_fields": ["code"],
        "script_fields": {"next": {"script": {"source": "doc['year'].value + 1"}}},
        "docvalue_fields": ["year"],
        "fields": ["tenant"],
        "version": True,
        "seq_no_primary_term": True,
    }
    plain = by_id(client.search(index=index, body=body))
    fused = by_id(ranker.search(index, body, text="stroke"))
    assert plain.keys() == {"one", "two"}
    for id, hit in plain.items():
        found = {key: value for key, value in fused[id].items() if key not in ("_score", "trifuse")}
        assert found == {key: value for key, value in hit.items() if key != "_score"}
    assert fused["one"]["highlight"] == {"title": ["<b>stroke</b> in adults"]}
    near = fused["near"]
    assert "highlight" not in near
    assert near["_source"] == {"title": "asthma", "year": 1999}
    assert near["fields"] == {"year": [1999], "tenant": ["b"], "code": ["N"], "next": [2000]}


def test_f11_vectors_are_left_out_of_source_unless_named(index: str, ranker: HybridRanker) -> None:
    plain = by_id(ranker.search(index, {"query": QUERY}, text="stroke"))["two"]["_source"]
    assert plain == {"title": "stroke", "tenant": "a", "year": 2002, "code": "T"}
    named = ranker.search(index, {"query": QUERY, "_source": ["title", "trifuse_vector"]}, text="stroke")
    assert by_id(named)["two"]["_source"].keys() == {"title", "trifuse_vector"}
    none = ranker.search(index, {"query": QUERY, "_source": False}, text="stroke")
    assert "_source" not in by_id(none)["two"]


def test_f11_aggregations_are_over_the_lexical_matches(
    client: OpenSearch, index: str, ranker: HybridRanker
) -> None:
    aggs = {
        "years": {"stats": {"field": "year"}},
        "tenants": {"terms": {"field": "tenant"}, "aggs": {"best": {"top_hits": {"size": 1}}}},
    }
    body = {"query": QUERY, "aggs": aggs, "size": 0}
    plain = client.search(index=index, body=body)["aggregations"]
    response = ranker.search(index, body, text="stroke")
    fused = response["aggregations"]
    assert response["hits"]["hits"] == []
    assert fused["years"] == plain["years"]
    (bucket,) = fused["tenants"]["buckets"]
    assert bucket["doc_count"] == 2
    assert "trifuse_vector" not in bucket["best"]["hits"]["hits"][0]["_source"]


def test_f11_suggest_and_typed_keys(client: OpenSearch, index: str, ranker: HybridRanker) -> None:
    body = {
        "query": QUERY,
        "aggs": {"years": {"max": {"field": "year"}}},
        "suggest": {"spelling": {"text": "astma", "term": {"field": "title"}}},
    }
    response = ranker.search(index, body, text="stroke", params={"typed_keys": "true"})
    plain = client.search(index=index, body=body, params={"typed_keys": "true"})
    assert response["aggregations"] == plain["aggregations"] == {"max#years": {"value": 2002.0}}
    assert response["suggest"] == plain["suggest"]
    assert "term#spelling" in response["suggest"]


def test_f11_collapse_keeps_the_best_fused_hit_of_each_group(index: str, ranker: HybridRanker) -> None:
    whole = [hit["_id"] for hit in ranker.search(index, {"query": QUERY}, text="stroke")["hits"]["hits"]]
    response = ranker.search(index, {"query": QUERY, "collapse": {"field": "tenant"}}, text="stroke")
    found = by_id(response)
    best = next(id for id in whole if id != "near")
    assert found.keys() == {best, "near"}
    assert found[best]["fields"] == {"tenant": ["a"]}
    assert response["hits"]["total"]["value"] == 3
    second = ranker.search(
        index, {"query": QUERY, "collapse": {"field": "tenant"}}, text="stroke", from_=1, size=1
    )
    assert by_id(second).keys() == {list(found)[1]}


def test_f11_rescore_goes_with_the_lexical_leg(client: OpenSearch, index: str, ranker: HybridRanker) -> None:
    rescore = {
        "window_size": 100,
        "query": {
            "rescore_query": {"term": {"code": "O"}},
            "query_weight": 0,
            "rescore_query_weight": 5,
        },
    }
    body = {"query": QUERY, "rescore": rescore}
    plain = {id: hit["_score"] for id, hit in by_id(client.search(index=index, body=body)).items()}
    legs = {
        id: hit["trifuse"]["legs"] for id, hit in by_id(ranker.search(index, body, text="stroke")).items()
    }
    assert {id: leg["lexical"]["score"] for id, leg in legs.items() if leg["lexical"]} == plain
    assert legs["one"]["lexical"]["rank"] == 1


def test_f11_explain(index: str, ranker: HybridRanker) -> None:
    for response in (
        ranker.search(index, {"query": QUERY, "explain": True}, text="stroke"),
        ranker.search(index, {"query": QUERY}, text="stroke", explain=True),
    ):
        hit = by_id(response)["two"]
        assert hit["_explanation"]["value"] == hit["_score"]
        lexical, dense = hit["_explanation"]["details"]
        assert lexical["description"].startswith("lexical: rank 1, ")
        assert "weight(title:stroke" in str(lexical["details"])
        assert dense["description"].startswith("dense: rank 3, ")


def test_f11_inner_hits(index: str, ranker: HybridRanker) -> None:
    nested = {
        "nested": {
            "path": "arms",
            "query": {"match": {"arms.name": "aspirin"}},
            "inner_hits": {"highlight": {"fields": {"arms.name": {}}}},
        }
    }
    response = ranker.search(index, {"query": {"bool": {"should": [QUERY, nested]}}}, text="stroke")
    (inner,) = by_id(response)["one"]["inner_hits"]["arms"]["hits"]["hits"]
    assert inner["highlight"] == {"arms.name": ["<em>aspirin</em>"]}
    assert by_id(response)["near"]["inner_hits"]["arms"]["hits"]["hits"] == []


def test_f11_track_total_hits(index: str, ranker: HybridRanker) -> None:
    untracked = ranker.search(index, {"query": QUERY, "track_total_hits": False}, text="stroke")
    assert "total" not in untracked["hits"]
    assert len(untracked["hits"]["hits"]) == 3
    tracked = ranker.search(index, {"query": QUERY, "track_total_hits": True}, text="stroke")
    assert tracked["hits"]["total"] == {"value": 3, "relation": "eq"}


def test_f11_timeout_goes_with_every_leg(index: str, ranker: HybridRanker) -> None:
    response = ranker.search(index, {"query": QUERY, "timeout": "10s"}, text="stroke")
    assert (response["timed_out"], len(response["hits"]["hits"])) == (False, 3)


def test_f11_a_sort_by_score(index: str, ranker: HybridRanker) -> None:
    plain = ranker.search(index, {"query": QUERY}, text="stroke")
    by_score = ranker.search(index, {"query": QUERY, "sort": ["_score"]}, text="stroke")
    assert by_score["hits"] == plain["hits"]


def test_f11_routing_and_preference(make_index: Callable[..., str], ranker: HybridRanker) -> None:
    """Of five shards, one routing reaches one."""
    index = make_index(
        [
            {"_id": f"{owner}{n}", "_routing": owner, "title": "stroke", "angle": n}
            for owner in ("x", "y")
            for n in range(5)
        ],
        shards=5,
    )
    params = {"routing": "x", "preference": "_local"}
    response = ranker.search(index, {"query": QUERY}, text="stroke", params=params)
    assert response["_shards"]["total"] == 1
    found = by_id(response)
    assert {f"x{n}" for n in range(5)} <= found.keys()
    assert all(hit["_source"]["title"] == "stroke" for hit in found.values())
    everywhere = ranker.search(index, {"query": QUERY}, text="stroke")
    assert everywhere["_shards"]["total"] == 5
    assert len(everywhere["hits"]["hits"]) == 10


def test_f11_url_parameters_that_decide_what_is_searched(index: str, client: OpenSearch, tiny: Any) -> None:
    params = {
        "ignore_unavailable": "true",
        "allow_no_indices": "true",
        "expand_wildcards": "open",
        "request_cache": "false",
        "search_type": "dfs_query_then_fetch",
        "allow_partial_search_results": "true",
    }
    ranker = HybridRanker(client, tiny, profile=Profile(weights={"lexical": 1, "dense": 1}))
    response = ranker.search([index, f"{index}-missing"], {"query": QUERY}, text="stroke", params=params)
    assert len(response["hits"]["hits"]) == 3
