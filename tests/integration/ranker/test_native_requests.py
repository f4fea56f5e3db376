"""Whole searches where OpenSearch fuses: keys, filters, pages, empty legs; what it does otherwise.

The cases from F11 on; those before, of the fusion itself, are in `test_native_cases.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker import BodyError, HybridRanker, Profile, SearchRejected
from trifuse.ranker.clicks.settings import ClickSettings

STROKE = {"query": {"match": {"title": "stroke"}}}
MINE = {"term": {"tenant": "a"}}


def native(**settings: Any) -> Profile:
    """A native profile: without weights of the lexical and the dense leg, half each."""
    settings = {"weights": {"lexical": 1, "dense": 1}, **settings}
    return Profile(**settings, clicks=ClickSettings(support=0), execution="native")


def scores(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}


def ids(response: dict[str, Any]) -> list[str]:
    return list(scores(response))


def test_f11_refused_before_anything_is_sent() -> None:
    unsent = HybridRanker(cast(OpenSearch, None), profile=native())
    rescore = {"window_size": 100, "query": {"rescore_query": {"match_all": {}}}}
    for body in (
        {"rescore": rescore},
        {"search_pipeline": "mine"},
        {"sort": ["year"]},
        {"min_score": 1},
        {"nonsense": 1},
    ):
        with pytest.raises(BodyError, match=r"execution 'client'|can't be used|on no list"):
            unsent.search("i", body, text="stroke")
    for params in ({"search_type": "dfs_query_then_fetch"}, {"search_pipeline": "mine"}):
        with pytest.raises(BodyError, match="execution 'client'"):
            unsent.search("i", {}, text="stroke", params=params)


def test_f11_each_key_is_as_where_it_is_fused_here(
    client: OpenSearch, tiny: Any, search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    index = make_index(
        [
            {"_id": "near", "title": "asthma", "tenant": "b", "year": 1999, "code": "N", "angle": 0},
            {
                "_id": "one",
                "title": "stroke in adults",
                "tenant": "a",
                "year": 2001,
                "code": "O",
                "angle": 20,
                "arms": [{"name": "aspirin", "kind": "drug"}],
            },
            {"_id": "two", "title": "stroke", "tenant": "a", "year": 2002, "code": "T", "angle": 40},
            {"_id": "three", "title": "strokes", "tenant": "b", "year": 2003, "code": "U", "angle": 50},
        ]
    )
    arms = {"nested": {"path": "arms", "query": {"match": {"arms.name": "aspirin"}}, "inner_hits": {}}}
    body: dict[str, Any] = {
        "query": {"bool": {"must": [STROKE["query"]], "should": [arms]}},
        "highlight": {"fields": {"title": {"pre_tags": "<b>", "post_tags": "</b>"}}},
        "_source": ["title", "year"],
        "stored_fields": ["code"],
        "script_fields": {"next": {"script": {"source": "doc['year'].value + 1"}}},
        "docvalue_fields": ["year"],
        "fields": ["tenant"],
        "version": True,
        "seq_no_primary_term": True,
        "timeout": "5s",
        "stats": ["team"],
        "suggest": {"fix": {"text": "strke", "term": {"field": "title"}}},
        "aggs": {
            "years": {"stats": {"field": "year"}},
            "tenants": {"terms": {"field": "tenant"}, "aggs": {"best": {"top_hits": {"size": 1}}}},
        },
    }
    body["aggs"]["all"] = {"global": {}, "aggs": {"n": {"value_count": {"field": "_id"}}}}
    here = HybridRanker(client, tiny, profile=Profile(weights={"lexical": 1, "dense": 1})).search(
        index, body, text="stroke"
    )
    there = search_natively(index, body)
    assert (here["aggregations"]["years"]["count"], here["aggregations"]["all"]["n"]["value"]) == (3, 4)
    for key in ("aggregations", "suggest"):
        assert there[key] == here[key]
    fused = {hit["_id"]: hit for hit in here["hits"]["hits"]}
    for hit in there["hits"]["hits"]:
        expected = fused.pop(hit["_id"])
        for key in ("_score", "trifuse", "matched_queries"):
            hit.pop(key, None), expected.pop(key, None)
        assert hit == expected
    assert not fused
    named = search_natively(index, body, params={"typed_keys": "true"})
    assert named["aggregations"].keys() == {"stats#years", "sterms#tenants", "global#all"}
    assert search_natively(index, STROKE)["hits"]["hits"][0]["_source"].keys() >= {"title", "tenant"}
    assert all(
        "trifuse_vector" not in hit["_source"] for hit in search_natively(index, STROKE)["hits"]["hits"]
    )


def test_f11_collapse_post_filter_and_totals(
    client: OpenSearch, tiny: Any, search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    index = make_index(
        [
            {"_id": str(n), "title": "stroke " * (n % 4 + 1), "tenant": "abc"[n % 3], "angle": 11 * n % 80}
            for n in range(12)
        ]
        + [{"_id": "none", "title": "stroke", "angle": 85}]
    )
    ranker = HybridRanker(client, tiny, profile=Profile(weights={"lexical": 1, "dense": 1}))
    collapsed = {**STROKE, "collapse": {"field": "tenant"}}
    filtered = {**STROKE, "post_filter": MINE, "aggs": {"by": {"terms": {"field": "tenant"}}}}
    for body in (collapsed, filtered):
        here, there = ranker.search(index, body, text="stroke"), search_natively(index, body)
        assert ids(there) == ids(here)
        assert there.get("aggregations") == here.get("aggregations")
    assert len(ids(search_natively(index, collapsed))) == 4
    capped = search_natively(index, {**STROKE, "track_total_hits": 5})["hits"]["total"]
    assert capped == {"value": 5, "relation": "gte"}
    assert "total" not in search_natively(index, {**STROKE, "track_total_hits": False})["hits"]
    with pytest.raises(BodyError, match="no such field"):
        search_natively(index, {**STROKE, "collapse": {"field": "nowhere"}})


def test_f12_the_nearest_that_match_come_back(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """12 of 3,000 match, all of them farther away than most."""
    rare = range(1_200, 3_000, 150)
    index = make_index(
        [
            {"_id": str(n), "title": "asthma", "tenant": "a" if n in rare else "b", "angle": n * 0.03}
            for n in range(3_000)
        ]
    )
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 1}, normalization="min_max", k=5)
    body = {"query": {"bool": {"must": [{"match": {"title": "stroke"}}], "filter": [MINE]}}}
    response = search_natively(index, body, {"0": 3.0, "2850": 1.0}, profile=profile, size=20)
    assert sorted(ids(response)) == ["1200", "1350", "1500", "1650", "1800", "2850"]


def test_f13_the_total_never_varies_with_the_page(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """30 match the query, and of the 35 nearest 5 aren't among them."""
    index = make_index(
        [{"_id": str(n), "title": "stroke" if n < 30 else "asthma", "angle": n} for n in range(50)]
    )
    profile = native(depth=35)
    totals = [
        search_natively(index, STROKE, profile=profile, from_=start, size=size)["hits"]["total"]
        for start, size in [(0, 1), (0, 35), (5, 5), (34, 1), (0, 0)]
    ]
    assert totals == [{"value": 35, "relation": "eq"}] * 5


def test_f9_a_page_behind_the_last_hit_is_empty(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """The server fails it: "Reached end of search result"."""
    index = make_index([{"_id": str(n), "title": "stroke", "angle": n} for n in range(7)])
    first = search_natively(index, STROKE, size=5)
    for start, size, left in [(5, 5, 2), (7, 5, 0), (60, 40, 0), (60, 0, 0)]:
        page = search_natively(index, STROKE, from_=start, size=size)
        assert len(ids(page)) == left
        assert page["hits"]["total"] == first["hits"]["total"] == {"value": 7, "relation": "eq"}
    assert page["trifuse"]["legs"].keys() == first["trifuse"]["legs"].keys()


def test_f14_all_legs_empty_and_one_leg_empty(
    search_natively: Callable[..., Any], make_index: Callable[..., str], three: str
) -> None:
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 1}, normalization="min_max")
    response = search_natively(make_index([], suffix="-empty"), STROKE, {"gone": 1.0}, profile=profile)
    assert response["hits"] == {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}
    one = search_natively(three, STROKE, {"gone": 1.0}, profile=profile)
    assert scores(one) == pytest.approx({"near": 1 / 3, "mid": 1 / 6, "far": 0.001 / 3}, abs=1e-6)


def test_f14_a_document_that_scores_0_is_no_hit(search_natively: Callable[..., Any], three: str) -> None:
    """Deviates for scores of 0; a query of filters alone, which scores 0, is made to score 1."""
    zero = {"query": {"function_score": {"query": {"match_all": {}}, "weight": 0}}}
    profile = native(weights={"lexical": 1})
    assert ids(search_natively(three, zero, profile=profile)) == []
    filters = {"query": {"bool": {"filter": [{"match": {"title": "far mid"}}]}}}
    assert scores(search_natively(three, filters, profile=profile)) == {"far": 1.0, "mid": 1.0}
    given = search_natively(three, filters, profile=profile, filter={"ids": {"values": ["far"]}})
    assert scores(given) == {"far": 1.0}


@pytest.mark.parametrize("text", ["the", "", "🫀", " ".join(f"w{n}" for n in range(10_000))])
def test_f15_no_analysable_term_leaves_the_dense_leg(
    search_natively: Callable[..., Any], three: str, text: str
) -> None:
    response = search_natively(three, {"query": {"match": {"title": text}}}, text="stroke")
    assert ids(response) == ["near", "mid", "far"]
    lexical = response["trifuse"]["legs"]["lexical"]
    assert lexical["state"] == ("failed" if len(text) > 100 else "ok")


def test_f15_clicks_give_way_to_a_long_query(search_natively: Callable[..., Any], three: str) -> None:
    """1,000 clicked documents and 60 words are more clauses than the server takes."""
    clicks = {f"d{n}": 1.0 + n for n in range(1_200)} | {"far": 9_999.0}
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 8}, normalization="min_max")
    words = " ".join(f"w{n}" for n in range(60))
    short = search_natively(three, {"query": {"match": {"title": "w1"}}}, clicks, profile=profile)
    assert ids(short)[0] == "far"
    long = search_natively(three, {"query": {"match": {"title": words}}}, clicks, profile=profile)
    assert ids(long)[0] == "near"
    assert long["trifuse"]["legs"]["clicks"]["state"] == "failed"
    assert "more terms" in long["trifuse"]["legs"]["clicks"]["reason"]
    assert long["trifuse"]["legs"]["lexical"]["weight"] == 0.5
    alone = native(weights={"lexical": 1})
    with pytest.raises(SearchRejected):
        search_natively(three, {"query": {"match": {"title": words * 20}}}, profile=alone)


def test_a_leg_that_the_server_refuses_fails_the_search(
    client: OpenSearch, tiny: Any, make_index: Callable[..., str]
) -> None:
    """Deviates: the mapping promises a vector field that isn't one; fusing here leaves the leg out."""
    index = make_index([{"_id": "1", "title": "stroke"}])
    meta = meta_with_space(None, "title", Space(tiny.space, TextTemplate(("title",))))
    client.indices.put_mapping(index=index, body={"_meta": meta})
    with pytest.raises(SearchRejected, match="title"):
        HybridRanker(client, tiny, profile=native(vector_field="title")).search(index, STROKE, text="x")


TENANT = {
    "weights": {"lexical": 1, "dense": 1, "clicks": 1},
    "normalization": "min_max",
    "k": 5,
}
CLICKS = {"b1": 9.0, "a1": 1.0, "b19": 5.0, "a19": 2.0}


@pytest.mark.parametrize(
    "query",
    [
        {"function_score": {"query": {"bool": {"must": [STROKE["query"], MINE]}}, "weight": 2}},
        {"bool": {"must": [STROKE["query"]], "filter": [MINE]}},
        {"bool": {"must": [STROKE["query"]], "must_not": [{"term": {"tenant": "b"}}]}},
    ],
)
def test_f16_a_tenants_filter_holds_in_every_leg(
    search_natively: Callable[..., Any], two_tenants: Callable[..., str], query: dict[str, Any]
) -> None:
    response = search_natively(two_tenants(), {"query": query}, CLICKS, profile=native(**TENANT), size=50)
    # Four by words, five by vectors, of which a4 is one more, and a19 by clicks.
    assert sorted(ids(response)) == ["a0", "a1", "a19", "a2", "a3", "a4"]


def test_f16_a_filtered_alias_and_a_given_filter(
    client: OpenSearch, search_natively: Callable[..., Any], two_tenants: Callable[..., str]
) -> None:
    name = two_tenants()
    client.indices.put_alias(index=name, name=f"{name}-mine", body={"filter": MINE})
    for index, filter in ((f"{name}-mine", None), (name, MINE)):
        response = search_natively(index, STROKE, CLICKS, profile=native(**TENANT), size=50, filter=filter)
        assert sorted(ids(response)) == ["a0", "a1", "a19", "a2", "a3", "a4"]


def test_f16_what_cannot_be_lifted_bounds_the_other_legs_to_lexical_matches(
    search_natively: Callable[..., Any], two_tenants: Callable[..., str]
) -> None:
    query = {"query_string": {"query": "+tenant:a +stroke", "default_field": "title"}}
    response = search_natively(two_tenants(), {"query": query}, CLICKS, profile=native(**TENANT), size=50)
    assert sorted(ids(response)) == ["a0", "a1", "a2", "a3"]
    assert response["trifuse"]["filter"]["rescored_only"] is True


def test_the_click_leg_is_as_deep_as_the_others(
    client: OpenSearch, tiny: Any, given_clicks: Any, search_natively: Callable[..., Any], three: str
) -> None:
    """Deviates: of three clicked documents the best two are normalised; here all, up to `candidates`."""
    profile = native(weights={"clicks": 1}, normalization="min_max", depth=2)
    clicks = {"near": 3.0, "mid": 2.0, "far": 1.0}
    response = search_natively(three, STROKE, clicks, profile=profile, size=2)
    assert scores(response) == pytest.approx({"near": 1.0, "mid": 0.001})
    here = HybridRanker(client, tiny, given_clicks(clicks), replace(profile, execution="client"))
    assert scores(here.search(three, STROKE, text="x", size=2)) == pytest.approx({"near": 1.0, "mid": 0.5})
