from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trifuse.ranker.errors import BodyError
from trifuse.ranker.native.query import (
    MAX_CLICKS,
    beside_body,
    check_native_request,
    clicks_clause,
    native_search_of,
    scoring,
)
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.request import Request

STROKE = {"match": {"title": "stroke"}}
MINE = {"term": {"tenant": "a"}}
CLICKS = {"a": 0.5, "b": 0.75}
CLICKED = {
    "should": [
        {"term": {"_id": {"value": "b", "boost": 0.75}}},
        {"term": {"_id": {"value": "a", "boost": 0.5}}},
    ],
    "minimum_should_match": 1,
}
DENSE = {"knn": {"trifuse_vector": {"vector": [1.0, 0.0], "k": 7}}}

RequestOf = Callable[..., Request]


def sent(request: Request, clicks: dict[str, float] | None = None, **more: Any) -> Any:
    return native_search_of(request, CLICKS if clicks is None else clicks, request.profile.weights, **more)


def queries(search: Any) -> list[Any]:
    return list(search.body["query"]["hybrid"]["queries"])


def test_a_sub_query_for_each_leg(request_of: RequestOf) -> None:
    request = request_of()
    search = sent(request)
    assert queries(search) == [STROKE, DENSE, {"bool": {**CLICKED, "filter": []}}]
    assert search.weights == {"lexical": 0.25, "dense": 0.5, "clicks": 0.25}
    processor = search.body["search_pipeline"]["phase_results_processors"][0]["normalization-processor"]
    assert processor["combination"]["parameters"]["weights"] == [0.25, 0.5, 0.25]
    assert search.body["query"]["hybrid"]["pagination_depth"] == 100
    assert (search.body["from"], search.body["size"]) == (0, 10)
    assert search.body["_source"] == {"excludes": ["trifuse", "trifuse_vector"]}
    assert search.params == dict(request.url.header)


def test_legs_that_have_nothing_to_search_by(request_of: RequestOf) -> None:
    search = sent(request_of(encoded=False), {})
    assert queries(search) == [STROKE]
    assert search.weights == {"lexical": 1.0}
    assert sent(request_of(encoded=False), {}, without=("lexical",)) is None
    assert sent(request_of(), without=("clicks",)).weights == pytest.approx(
        {"lexical": 1 / 3, "dense": 2 / 3}
    )


def test_a_leg_of_weight_0_is_not_sent(request_of: RequestOf) -> None:
    profile = Profile(weights={"dense": 1})
    asked = {"aggs": {"n": {"value_count": {"field": "tenant"}}}}
    assert queries(sent(request_of(profile=profile, **asked), {})) == [
        {"knn": {"trifuse_vector": {"vector": [1.0, 0.0], "k": 100}}}
    ]


def test_f16_filters_hold_in_each_sub_query(request_of: RequestOf) -> None:
    query = {"bool": {"must": [STROKE], "filter": [{"term": {"tenant": "b"}}]}}
    lexical, dense, clicks = queries(sent(request_of(filter=MINE, query=query)))
    assert lexical == {"bool": {"must": [query], "filter": [MINE]}}
    both = {"bool": {"filter": [MINE, {"term": {"tenant": "b"}}]}}
    assert dense["knn"]["trifuse_vector"]["filter"] == both
    assert clicks["bool"]["filter"] == [both]


def test_names_where_an_explanation_is_asked_for(request_of: RequestOf) -> None:
    search = sent(request_of(explain=True))
    assert [each["bool"]["_name"] for each in queries(search)] == [
        "trifuse.lexical",
        "trifuse.dense",
        "trifuse.clicks",
    ]
    assert [each["bool"]["must"] for each in queries(search)][:2] == [[STROKE], [DENSE]]
    assert "explain" not in search.body
    assert search.params["include_named_queries_score"] == "true"


def test_what_goes_with_the_search(request_of: RequestOf) -> None:
    given = {
        "size": 3,
        "from": 2,
        "post_filter": MINE,
        "collapse": {"field": "tenant"},
        "timeout": "2s",
        "track_total_hits": 7,
        "stats": ["x"],
        "highlight": {"fields": {"title": {}}},
        "_source": ["title"],
    }
    body = sent(request_of(**given, params={"routing": "r", "typed_keys": True})).body
    assert {key: body[key] for key in given if key != "_source"} == {
        key: value for key, value in given.items() if key != "_source"
    }
    assert body["_source"] == {"includes": ["title"], "excludes": ["trifuse", "trifuse_vector"]}
    assert sent(request_of(params={"routing": "r", "typed_keys": True})).params.items() >= {
        ("routing", "r"),
        ("typed_keys", "true"),
    }


def test_aggregations_are_of_the_lexical_leg(request_of: RequestOf) -> None:
    assert beside_body(request_of()) is None
    aggs = {"by": {"terms": {"field": "tenant"}}}
    request = request_of(aggs=aggs, post_filter=MINE)
    assert "aggs" not in sent(request).body
    beside = beside_body(request)
    assert beside is not None
    assert (beside["aggs"], beside["size"], beside["query"]) == (aggs, 0, STROKE)
    assert (beside["search_pipeline"], beside["post_filter"]) == ("_none", MINE)


def test_clicks_are_the_best_ones() -> None:
    scores = {f"{n:04}": float(n) for n in range(1_200)}
    clause = clicks_clause(scores, MINE)["bool"]
    assert clause["filter"] == [MINE]
    assert len(clause["should"]) == MAX_CLICKS
    assert clause["should"][0] == {"term": {"_id": {"value": "1199", "boost": 1199.0}}}
    assert len(clicks_clause({"a": 0.0, "b": 1.0}, None)["bool"]["should"]) == 1


@pytest.mark.parametrize(
    ("query", "scored"),
    [
        (STROKE, True),
        ({"bool": {"must": [STROKE], "filter": [MINE]}}, True),
        ({"bool": {"should": [STROKE], "filter": [MINE]}}, True),
        ({"constant_score": {"filter": MINE}}, True),
        ({"bool": {"filter": [MINE]}}, False),
        ({"bool": {"must_not": MINE}}, False),
        ({"bool": {"must": {"bool": {"filter": MINE}}, "filter": [MINE]}}, False),
    ],
)
def test_filters_alone_score_1(query: dict[str, Any], scored: bool) -> None:
    assert scoring(query) == (query if scored else {"constant_score": {"filter": query}})


@pytest.mark.parametrize(
    "given",
    [
        {"rescore": {"window_size": 100, "query": {}}},
        {"search_pipeline": "mine"},
        {"params": {"search_pipeline": "mine"}},
        {"params": {"search_type": "dfs_query_then_fetch"}},
    ],
)
def test_f11_what_cannot_be_used_natively(request_of: RequestOf, given: dict[str, Any]) -> None:
    request = request_of(**given)
    with pytest.raises(BodyError, match="execution 'client'"):
        check_native_request(request.user, request.url)
    check_native_request(request_of().user, request_of().url)
