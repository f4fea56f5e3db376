"""The F cases where OpenSearch fuses; where it does otherwise than fusing here, what it does.

`docs/fusion.md` ("What the server does otherwise") lists the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker import BodyError, HybridRanker, Profile
from trifuse.ranker.click_settings import ClickSettings
from trifuse.ranker.errors import ProfileNotNative, SearchRejected

STROKE = {"query": {"match": {"title": "stroke"}}}
MINE = {"term": {"tenant": "a"}}
FUSIONS = [
    {"normalization": "min_max", "combination": "weighted_sum"},
    {"normalization": "min_max", "combination": "geometric_mean"},
    {"normalization": "min_max", "combination": "harmonic_mean"},
    {"normalization": "l2", "combination": "arithmetic_mean"},
    {"normalization": "z_score", "combination": "arithmetic_mean"},
    {"combination": "rrf"},
]


def native(**settings: Any) -> Profile:
    """A native profile: without weights of the lexical and the dense leg, half each."""
    settings = {"weights": {"lexical": 1, "dense": 1}, **settings}
    return Profile(**settings, clicks=ClickSettings(support=0), execution="native")


def by_score(scores: Mapping[str, float]) -> dict[str, Any]:
    """A query that gives documents those scores, by their titles; it requires nothing of other legs."""
    clauses = [
        {"function_score": {"query": {"match": {"title": title}}, "weight": score, "boost_mode": "replace"}}
        for title, score in scores.items()
    ]
    return {"query": {"bool": {"should": clauses}}}


def scores(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}


def ids(response: dict[str, Any]) -> list[str]:
    return list(scores(response))


@pytest.fixture
def search(client: OpenSearch, tiny: Any, given_clicks: Any) -> Callable[..., dict[str, Any]]:
    """Searches natively; `clicks` is what the log says."""

    def run(
        index: str, body: Any, clicks: Mapping[str, float] | None = None, text: str = "stroke", **more: Any
    ) -> dict[str, Any]:
        found: dict[str, Any] = HybridRanker(client, tiny, given_clicks(clicks or {})).search(
            index, body, text=text, **{"profile": native(), **more}
        )
        assert found["trifuse"]["execution"] == "native"
        return found

    return run


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


@pytest.mark.parametrize("normalization", ["min_max", "l2", "z_score"])
def test_f1_a_leg_with_a_single_hit(search: Callable[..., Any], three: str, normalization: str) -> None:
    """1.0, of which the mean of two legs is half; deviates for z_score: the raw score."""
    profile = native(normalization=normalization, combination="arithmetic_mean", k=1)
    response = search(three, by_score({"far": 7.2}), profile=profile)
    far = 7.2 if normalization == "z_score" else 1.0
    assert scores(response) == pytest.approx({"far": far / 2, "near": 0.5})


@pytest.mark.parametrize(("normalization", "each"), [("min_max", 1.0), ("l2", 2**-0.5), ("z_score", 7.2)])
def test_f1_a_leg_whose_hits_all_have_one_score(
    search: Callable[..., Any], three: str, normalization: str, each: float
) -> None:
    profile = native(weights={"lexical": 1}, normalization=normalization)
    response = search(three, by_score({"far": 7.2, "mid": 7.2}), profile=profile)
    assert scores(response) == pytest.approx({"far": each, "mid": each})


def test_f2_z_scores_are_not_monotone(search: Callable[..., Any], three: str) -> None:
    """Deviates: all below the mean get 0.001, and a hit at the mean gets the best raw score.

    1, 2, 3 have a mean of 2 and a deviation of 1: the best is 1 above, and falls behind the second.
    """
    profile = native(weights={"lexical": 1}, normalization="z_score")
    response = search(three, by_score({"far": 1.0, "mid": 2.0, "near": 3.0}), profile=profile)
    assert scores(response) == pytest.approx({"mid": 3.0, "near": 1.0, "far": 0.001})
    assert ids(response) == ["mid", "near", "far"]
    shifted = search(three, by_score({"far": 1.0, "mid": 1.9, "near": 3.0}), profile=profile)
    assert (ids(shifted)[0], scores(shifted)["mid"]) == ("near", pytest.approx(0.001))


@pytest.mark.parametrize(
    ("combination", "both"), [("geometric_mean", 0.5**0.5), ("harmonic_mean", 1 / (0.5 / 1 + 0.5 / 0.5))]
)
def test_f3_one_more_matching_leg_may_lower_a_document(
    search: Callable[..., Any], three: str, combination: str, both: float
) -> None:
    """Deviates: a missing leg is left out of the mean, so that `mid`, found by both legs, falls behind.

    In the dense leg it has 0.5, and in the lexical leg 1.0; without its 0.5 it would have 1.0.
    """
    response = search(three, by_score({"mid": 5.0}), profile=native(combination=combination))
    assert scores(response) == pytest.approx({"near": 1.0, "mid": both, "far": 0.001}, abs=1e-6)


def test_f4_extreme_weights(search: Callable[..., Any], three: str) -> None:
    profile = native(weights={"lexical": 0.9998, "dense": 0.0001, "clicks": 0.0001}, normalization="min_max")
    body = by_score({"far": 3.0, "mid": 2.0, "near": 1.0})
    response = search(three, body, {"near": 5.0, "mid": 1.0}, profile=profile)
    assert ids(response) == ["far", "mid", "near"]


def test_f5_rrf_by_hand(search: Callable[..., Any], three: str) -> None:
    """First in both legs at a rank constant of 20: 2/21, at weights that sum to 1 half of it."""
    profile = native(combination="rrf", rank_constant=20)
    response = search(three, by_score({"near": 3.0, "mid": 2.0}), profile=profile)
    expected = {"near": 1 / 21, "mid": 1 / 22, "far": 0.5 / 23}
    assert scores(response) == pytest.approx(expected)
    assert ids(response) == list(expected)


def test_f6_a_document_of_both_legs_comes_first(
    search: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Dense X, a, Y; lexical b, c, Y: 2 · 0.5/63 for Y, and 0.5/61 for either first."""
    index = make_index(
        [{"_id": id, "title": id, "angle": angle} for id, angle in [("xx", 0), ("aa", 20), ("yy", 40)]]
        + [{"_id": id, "title": id} for id in ("bb", "cc")]
    )
    profile = native(combination="rrf")
    response = search(index, by_score({"bb": 3.0, "cc": 2.0, "yy": 1.0}), profile=profile)
    assert ids(response)[0] == "yy"
    expected = {"yy": 1 / 63, "xx": 0.5 / 61, "bb": 0.5 / 61, "aa": 0.5 / 62, "cc": 0.5 / 62}
    assert scores(response) == pytest.approx(expected)


def test_f7_equal_documents_are_in_the_order_of_the_index(
    search: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Deviates: by score, then as they were indexed; a rebuilt index may have another order."""
    documents = [{"_id": id, "title": "stroke", "angle": 30} for id in ("b", "c", "a")]
    for suffix, order in (("-1", documents), ("-2", documents[::-1])):
        response = search(make_index(order, suffix=suffix), STROKE)
        assert scores(response) == pytest.approx(dict.fromkeys("abc", 1.0))
        assert ids(response) == [each["_id"] for each in order]


def test_f7_rrf_ranks_equal_documents_by_the_order_of_the_index(
    search: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Deviates as above: the first of two equal hits has rank 1, here the one whose `_id` is the first."""
    index = make_index([{"_id": id, "title": "stroke"} for id in ("b", "a")])
    profile = native(weights={"lexical": 1}, combination="rrf")
    assert scores(search(index, STROKE, profile=profile)) == pytest.approx({"b": 1 / 61, "a": 1 / 62})


def test_f8_a_document_of_every_leg_is_one_hit(search: Callable[..., Any], three: str) -> None:
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 2}, normalization="min_max")
    response = search(three, by_score({"near": 3.0, "mid": 1.0}), {"near": 2.0}, profile=profile)
    assert ids(response) == ["near", "mid", "far"]
    assert scores(response)["near"] == pytest.approx(1.0)


@pytest.mark.parametrize("settings", FUSIONS, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("shards", [1, 3])
def test_f9_pages_add_up(
    search: Callable[..., Any], make_index: Callable[..., str], settings: dict[str, str], shards: int
) -> None:
    index = make_index(
        [{"_id": str(n), "title": "stroke " * (n % 5), "angle": 7 * n % 90} for n in range(40)], shards=shards
    )
    profile = native(**settings)
    whole, first, second = (
        ids(search(index, STROKE, profile=profile, from_=start, size=size))
        for start, size in ((0, 10), (0, 5), (5, 5))
    )
    assert first + second == whole
    assert len(set(whole)) == 10


def test_f10_a_floor_is_refused_and_a_bound_keeps_a_weak_leg_low(
    search: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """The best of three cosines around 0 is 0.05 above the worst: at bounds of 0 and 1 it is about a half."""
    index = make_index([{"_id": str(angle), "title": "stroke", "angle": angle} for angle in (88, 89, 90)])
    with pytest.raises(ProfileNotNative, match="dense has a floor"):
        search(index, STROKE, profile=native(floors={"dense": 0.6}))
    weak = search(index, STROKE, profile=native(weights={"dense": 1}))
    bound = search(index, STROKE, profile=native(weights={"dense": 1}, bounds={"dense": (0.0, 1.0)}))
    assert scores(weak)["88"] == pytest.approx(1.0)
    assert scores(bound) == pytest.approx({"88": 0.517, "89": 0.509, "90": 0.5}, abs=1e-3)


def test_f10_a_bound_among_the_scores_turns_hits_round(search: Callable[..., Any], three: str) -> None:
    """Deviates: a hit below the bound is measured from the leg's worst, so that it may pass one above it.

    At 2.9 of a range of 1 to 3 a hit has 0.95; 2.91, above the bound, has (2.91 - 2.9) / (3 - 2.9) = 0.1.
    """
    body = by_score({"near": 3.0, "mid": 2.91, "far": 1.0})
    profile = native(weights={"lexical": 1}, bounds={"lexical": (2.9, None)})
    response = search(three, body, profile=profile)
    assert scores(response) == pytest.approx({"near": 1.0, "mid": 0.1, "far": 0.001}, abs=1e-4)
    assert scores(search(three, by_score({"near": 3.0}), profile=profile)) == {"near": 1.0}


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
    client: OpenSearch, tiny: Any, search: Callable[..., Any], make_index: Callable[..., str]
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
    there = search(index, body)
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
    named = search(index, body, params={"typed_keys": "true"})
    assert named["aggregations"].keys() == {"stats#years", "sterms#tenants", "global#all"}
    assert search(index, STROKE)["hits"]["hits"][0]["_source"].keys() >= {"title", "tenant"}
    assert all("trifuse_vector" not in hit["_source"] for hit in search(index, STROKE)["hits"]["hits"])


def test_f11_collapse_post_filter_and_totals(
    client: OpenSearch, tiny: Any, search: Callable[..., Any], make_index: Callable[..., str]
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
        here, there = ranker.search(index, body, text="stroke"), search(index, body)
        assert ids(there) == ids(here)
        assert there.get("aggregations") == here.get("aggregations")
    assert len(ids(search(index, collapsed))) == 4
    capped = search(index, {**STROKE, "track_total_hits": 5})["hits"]["total"]
    assert capped == {"value": 5, "relation": "gte"}
    assert "total" not in search(index, {**STROKE, "track_total_hits": False})["hits"]
    with pytest.raises(BodyError, match="no such field"):
        search(index, {**STROKE, "collapse": {"field": "nowhere"}})


def test_f12_the_nearest_that_match_come_back(
    search: Callable[..., Any], make_index: Callable[..., str]
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
    response = search(index, body, {"0": 3.0, "2850": 1.0}, profile=profile, size=20)
    assert sorted(ids(response)) == ["1200", "1350", "1500", "1650", "1800", "2850"]


def test_f13_the_total_never_varies_with_the_page(
    search: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """30 match the query, and of the 35 nearest 5 aren't among them."""
    index = make_index(
        [{"_id": str(n), "title": "stroke" if n < 30 else "asthma", "angle": n} for n in range(50)]
    )
    profile = native(depth=35)
    totals = [
        search(index, STROKE, profile=profile, from_=start, size=size)["hits"]["total"]
        for start, size in [(0, 1), (0, 35), (5, 5), (34, 1), (0, 0)]
    ]
    assert totals == [{"value": 35, "relation": "eq"}] * 5


def test_f14_all_legs_empty_and_one_leg_empty(
    search: Callable[..., Any], make_index: Callable[..., str], three: str
) -> None:
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 1}, normalization="min_max")
    response = search(make_index([], suffix="-empty"), STROKE, {"gone": 1.0}, profile=profile)
    assert response["hits"] == {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}
    one = search(three, STROKE, {"gone": 1.0}, profile=profile)
    assert scores(one) == pytest.approx({"near": 1 / 3, "mid": 1 / 6, "far": 0.001 / 3}, abs=1e-6)


def test_f14_a_document_that_scores_0_is_no_hit(search: Callable[..., Any], three: str) -> None:
    """Deviates for scores of 0; a query of filters alone, which scores 0, is made to score 1."""
    zero = {"query": {"function_score": {"query": {"match_all": {}}, "weight": 0}}}
    profile = native(weights={"lexical": 1})
    assert ids(search(three, zero, profile=profile)) == []
    filters = {"query": {"bool": {"filter": [{"match": {"title": "far mid"}}]}}}
    assert scores(search(three, filters, profile=profile)) == {"far": 1.0, "mid": 1.0}
    given = search(three, filters, profile=profile, filter={"ids": {"values": ["far"]}})
    assert scores(given) == {"far": 1.0}


@pytest.mark.parametrize("text", ["the", "", "🫀", " ".join(f"w{n}" for n in range(10_000))])
def test_f15_no_analysable_term_leaves_the_dense_leg(
    search: Callable[..., Any], three: str, text: str
) -> None:
    response = search(three, {"query": {"match": {"title": text}}}, text="stroke")
    assert ids(response) == ["near", "mid", "far"]
    lexical = response["trifuse"]["legs"]["lexical"]
    assert lexical["state"] == ("failed" if len(text) > 100 else "ok")


def test_f15_clicks_give_way_to_a_long_query(search: Callable[..., Any], three: str) -> None:
    """1,000 clicked documents and 60 words are more clauses than the server takes."""
    clicks = {f"d{n}": 1.0 + n for n in range(1_200)} | {"far": 9_999.0}
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 8}, normalization="min_max")
    words = " ".join(f"w{n}" for n in range(60))
    short = search(three, {"query": {"match": {"title": "w1"}}}, clicks, profile=profile)
    assert ids(short)[0] == "far"
    long = search(three, {"query": {"match": {"title": words}}}, clicks, profile=profile)
    assert ids(long)[0] == "near"
    assert long["trifuse"]["legs"]["clicks"]["state"] == "failed"
    assert "more terms" in long["trifuse"]["legs"]["clicks"]["reason"]
    assert long["trifuse"]["legs"]["lexical"]["weight"] == 0.5
    alone = native(weights={"lexical": 1})
    with pytest.raises(SearchRejected):
        search(three, {"query": {"match": {"title": words * 20}}}, profile=alone)


def test_a_leg_that_the_server_refuses_fails_the_search(
    client: OpenSearch, tiny: Any, make_index: Callable[..., str]
) -> None:
    """Deviates: the mapping promises a vector field that isn't one; fusing here leaves the leg out."""
    index = make_index([{"_id": "1", "title": "stroke"}], vectors=False)
    meta = meta_with_space(None, "title", Space(tiny.space, TextTemplate(("title",))))
    client.indices.put_mapping(index=index, body={"_meta": meta})
    with pytest.raises(SearchRejected, match="title"):
        HybridRanker(client, tiny, profile=native(vector_field="title")).search(index, STROKE, text="x")


@pytest.fixture
def two_tenants(make_index: Callable[..., str]) -> str:
    """Tenant b's documents are nearer, and as good for BM25."""
    return make_index(
        [
            {
                "_id": f"{tenant}{n}",
                "title": "stroke" if n < 4 else "asthma",
                "tenant": tenant,
                "angle": n + (40 if tenant == "a" else 0),
            }
            for tenant in "ab"
            for n in range(20)
        ]
    )


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
    search: Callable[..., Any], two_tenants: str, query: dict[str, Any]
) -> None:
    response = search(two_tenants, {"query": query}, CLICKS, profile=native(**TENANT), size=50)
    # Four by words, five by vectors, of which a4 is one more, and a19 by clicks.
    assert sorted(ids(response)) == ["a0", "a1", "a19", "a2", "a3", "a4"]


def test_f16_a_filtered_alias_and_a_given_filter(
    client: OpenSearch, search: Callable[..., Any], two_tenants: str
) -> None:
    client.indices.put_alias(index=two_tenants, name=f"{two_tenants}-mine", body={"filter": MINE})
    for index, filter in ((f"{two_tenants}-mine", None), (two_tenants, MINE)):
        response = search(index, STROKE, CLICKS, profile=native(**TENANT), size=50, filter=filter)
        assert sorted(ids(response)) == ["a0", "a1", "a19", "a2", "a3", "a4"]


def test_f16_what_cannot_be_lifted_bounds_the_other_legs_to_lexical_matches(
    search: Callable[..., Any], two_tenants: str
) -> None:
    query = {"query_string": {"query": "+tenant:a +stroke", "default_field": "title"}}
    response = search(two_tenants, {"query": query}, CLICKS, profile=native(**TENANT), size=50)
    assert sorted(ids(response)) == ["a0", "a1", "a2", "a3"]
    assert response["trifuse"]["filter"]["rescored_only"] is True
