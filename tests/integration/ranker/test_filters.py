"""Filters hold in every leg, over a real index."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import BodyError, HybridRanker, Profile

TEXT = {"match": {"title": "stroke"}}
MINE = {"term": {"tenant": "a"}}


def tenants_by_leg(response: dict[str, Any]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for hit in response["hits"]["hits"]:
        for leg, value in hit["trifuse"]["legs"].items():
            if value is not None:
                found.setdefault(leg, set()).add(hit["_id"][0])
    return found


@pytest.fixture
def ranker(client: OpenSearch, tiny: Any, given_clicks: Any) -> HybridRanker:
    """Clicks are on documents of both tenants; five neighbours are searched."""
    return HybridRanker(
        client, tiny, given_clicks({"b1": 9.0, "a1": 1.0, "b19": 5.0, "a19": 2.0}), Profile(k=5)
    )


def test_f12_the_nearest_that_match_come_back(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    """12 of 10,000 match, all of them farther away than most."""
    rare = range(4_000, 10_000, 500)
    index = make_index(
        [
            {"_id": str(n), "title": "asthma", "tenant": "a" if n in rare else "b", "angle": n * 0.009}
            for n in range(10_000)
        ]
    )
    ranker = HybridRanker(client, tiny, given_clicks({"0": 3.0, "9500": 1.0}), Profile(k=5))
    response = ranker.search(
        index, {"query": {"bool": {"must": [TEXT], "filter": [MINE]}}}, text="x", size=20
    )
    dense = [hit["_id"] for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["dense"]]
    assert sorted(dense) == ["4000", "4500", "5000", "5500", "6000"]
    clicked = [hit["_id"] for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["clicks"]]
    assert clicked == ["9500"]


@pytest.mark.parametrize(
    "query",
    [
        {"function_score": {"query": {"bool": {"must": [TEXT, MINE]}}, "functions": [{"weight": 2}]}},
        {"bool": {"must": [TEXT], "filter": [MINE]}},
        {"bool": {"must": [TEXT, {"match": {"tenant": "a"}}]}},
        {"bool": {"must": [TEXT], "must_not": [{"term": {"tenant": "b"}}]}},
        {"bool": {"must": [TEXT], "mustNot": [{"term": {"tenant": "b"}}]}},
        {"bool": {"must": [TEXT], "should": [MINE, MINE], "minimum_should_match": "1  <  100%"}},
        {"bool": {"must": [TEXT, {"query_string": {"query": "a", "fields": ["ten*"]}}]}},
        {"bool": {"must": [TEXT, {"constant_score": {"filter": MINE}}]}},
        {"script_score": {"query": {"bool": {"must": [TEXT, MINE]}}, "script": {"source": "_score + 1"}}},
        {"dis_max": {"queries": [{"bool": {"must": [TEXT, MINE]}}, {"bool": {"filter": [MINE]}}]}},
    ],
)
def test_f16_a_tenants_filter_is_lifted(
    two_tenants: Callable[..., str], ranker: HybridRanker, query: dict[str, Any]
) -> None:
    response = ranker.search(two_tenants(), {"query": query}, text="stroke", size=100)
    assert tenants_by_leg(response) == {"lexical": {"a"}, "dense": {"a"}, "clicks": {"a"}}
    dense = [hit["_id"] for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["dense"]]
    assert sorted(dense) == ["a0", "a1", "a2", "a3", "a4"]
    assert response["trifuse"]["filter"]["not_lifted"] == []
    assert response["trifuse"]["filter"]["lifted"] != []


def test_f16_a_filter_given_beside_the_body_holds_in_every_leg(
    two_tenants: Callable[..., str], ranker: HybridRanker
) -> None:
    index = two_tenants()
    for body in ({"query": TEXT}, None):
        response = ranker.search(index, body, text="stroke", filter=MINE, size=100)
        assert tenants_by_leg(response) == {"lexical": {"a"}, "dense": {"a"}, "clicks": {"a"}}
        assert response["trifuse"]["filter"]["given"] == MINE


def test_f16_a_tenant_that_one_of_two_indices_analyses(
    client: OpenSearch, two_tenants: Callable[..., str], ranker: HybridRanker, index_name: str
) -> None:
    """A match on it is a filter here and full text there: no leg may go beyond the query's own matches."""
    index, other = two_tenants(), f"{index_name}-dynamic"
    client.index(index=other, id="b0", body={"title": "stroke", "tenant": "b"}, params={"refresh": "true"})
    body = {"query": {"bool": {"must": [TEXT, {"match": {"tenant": "a"}}]}}}
    response = ranker.search([index, other], body, text="stroke", size=100)
    assert set().union(*tenants_by_leg(response).values()) == {"a"}
    assert response["trifuse"]["filter"]["not_lifted"] == ["query.bool.must[1]: match"]


@pytest.mark.parametrize("filter", [{}, [], "tenant:a"])
def test_a_filter_that_is_no_query_is_refused(ranker: HybridRanker, filter: Any) -> None:
    with pytest.raises(BodyError, match="give one query"):
        ranker.search("any", {"query": TEXT}, text="stroke", filter=filter)


def test_f16_a_filtered_alias(
    client: OpenSearch, two_tenants: Callable[..., str], ranker: HybridRanker
) -> None:
    index = two_tenants()
    client.indices.put_alias(index=index, name=f"{index}-mine", body={"filter": MINE})
    response = ranker.search(f"{index}-mine", {"query": TEXT}, text="stroke", size=100)
    assert tenants_by_leg(response) == {"lexical": {"a"}, "dense": {"a"}, "clicks": {"a"}}
    assert response["trifuse"]["legs"]["dense"]["hits"] == 5
    assert response["trifuse"]["filter"]["alias"] == MINE


def test_f16_an_alias_with_a_filter_per_index(
    client: OpenSearch, two_tenants: Callable[..., str], tiny: Any
) -> None:
    one, two = two_tenants(suffix="-1"), two_tenants(suffix="-2")
    alias = f"{one}-both"
    client.indices.put_alias(index=one, name=alias, body={"filter": MINE})
    client.indices.put_alias(index=two, name=alias, body={"filter": {"term": {"tenant": "b"}}})
    response = HybridRanker(client, tiny, profile=Profile(k=5)).search(
        alias, {"query": TEXT}, text="x", size=100
    )
    assert {(hit["_index"], hit["_id"][0]) for hit in response["hits"]["hits"]} == {(one, "a"), (two, "b")}
    assert response["trifuse"]["legs"]["dense"]["hits"] == 5


def test_f16_what_cannot_be_lifted_bounds_the_other_legs_to_lexical_matches(
    two_tenants: Callable[..., str], ranker: HybridRanker
) -> None:
    """To trifuse a wrapper is a query of an unknown kind; here it holds the tenant's filter."""
    wrapped = {"wrapper": {"query": base64.b64encode(json.dumps(MINE).encode()).decode()}}
    response = ranker.search(
        two_tenants(), {"query": {"bool": {"must": [TEXT, wrapped]}}}, text="stroke", size=100
    )
    assert sorted(hit["_id"] for hit in response["hits"]["hits"]) == ["a0", "a1", "a2", "a3"]
    assert tenants_by_leg(response) == {"lexical": {"a"}, "dense": {"a"}, "clicks": {"a"}}
    assert response["trifuse"]["filter"]["not_lifted"] == ["query.bool.must[1]: wrapper"]
    assert response["trifuse"]["filter"]["rescored_only"] is True
    assert response["hits"]["total"] == {"value": 4, "relation": "eq"}


def test_f16_a_filter_that_is_a_score(two_tenants: Callable[..., str], ranker: HybridRanker) -> None:
    mine = {"source": "doc['tenant'].value == 'a' ? 1 : 0"}
    query = {"script_score": {"query": TEXT, "script": mine, "min_score": 0.5}}
    response = ranker.search(two_tenants(), {"query": query}, text="stroke", size=100)
    assert sorted(hit["_id"] for hit in response["hits"]["hits"]) == ["a0", "a1", "a2", "a3"]
    assert response["trifuse"]["filter"]["not_lifted"] == ["query.script_score.min_score"]


def test_f16_a_filter_in_query_string_syntax(two_tenants: Callable[..., str], ranker: HybridRanker) -> None:
    body = {"query": {"query_string": {"query": "+tenant:a stroke", "default_field": "title"}}}
    response = ranker.search(two_tenants(), body, text="stroke", size=100)
    assert set().union(*tenants_by_leg(response).values()) == {"a"}
    assert response["trifuse"]["filter"]["not_lifted"] == ["query: query_string"]


def test_f16_a_given_filter_frees_the_other_legs(
    two_tenants: Callable[..., str], ranker: HybridRanker
) -> None:
    body = {"query": {"query_string": {"query": "+tenant:a +stroke", "default_field": "title"}}}
    response = ranker.search(two_tenants(), body, text="stroke", filter=MINE, size=100)
    dense = [hit["_id"] for hit in response["hits"]["hits"] if hit["trifuse"]["legs"]["dense"]]
    assert sorted(dense) == ["a0", "a1", "a2", "a3", "a4"]
    assert response["trifuse"]["filter"]["rescored_only"] is False


def test_f11_post_filter_holds_in_every_leg_and_not_in_aggregations(
    two_tenants: Callable[..., str], ranker: HybridRanker
) -> None:
    body = {"query": TEXT, "post_filter": MINE, "aggs": {"by": {"terms": {"field": "tenant"}}}}
    response = ranker.search(two_tenants(), body, text="stroke", size=100)
    assert tenants_by_leg(response) == {"lexical": {"a"}, "dense": {"a"}, "clicks": {"a"}}
    counts = {each["key"]: each["doc_count"] for each in response["aggregations"]["by"]["buckets"]}
    assert counts == {"a": 4, "b": 4}


def test_a_filter_on_nested_documents_is_copied(make_index: Callable[..., str], ranker: HybridRanker) -> None:
    index = make_index(
        [
            {"_id": "a1", "title": "stroke", "angle": 50, "arms": [{"name": "x", "kind": "drug"}]},
            {"_id": "b1", "title": "stroke", "angle": 0, "arms": [{"name": "x", "kind": "device"}]},
        ]
    )
    nested = {"nested": {"path": "arms", "query": {"term": {"arms.kind": "drug"}}, "inner_hits": {}}}
    response = ranker.search(index, {"query": {"bool": {"must": [TEXT, nested]}}}, text="stroke")
    (hit,) = response["hits"]["hits"]
    assert hit["_id"] == "a1"
    assert hit["trifuse"]["legs"]["dense"] is not None
    assert hit["inner_hits"]["arms"]["hits"]["total"]["value"] == 1
