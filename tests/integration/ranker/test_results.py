"""Scores, order, paging and totals, over a real index."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS

TWO = Profile(weights={"lexical": 0.5, "dense": 0.5})
STROKE = {"query": {"match": {"title": "stroke"}}}


def ids(response: dict[str, Any]) -> list[str]:
    return [hit["_id"] for hit in response["hits"]["hits"]]


def states(response: dict[str, Any]) -> list[str]:
    return [response["trifuse"]["legs"][leg]["state"] for leg in ("lexical", "dense", "clicks")]


def test_three_signals_by_hand(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    """0°, 60°, 90° score 1, 0.75, 0.5: normalised 1, 0.5, 0. The lexical hit and the click are 1 each."""
    index = make_index(
        [
            {"_id": "far", "title": "stroke", "angle": 90},
            {"_id": "mid", "title": "asthma", "angle": 60},
            {"_id": "near", "title": "diabetes", "angle": 0},
        ]
    )
    weights = {"lexical": 0.5, "dense": 0.3, "clicks": 0.2}
    profile = Profile(weights=weights, normalization="min_max")
    ranker = HybridRanker(client, tiny, given_clicks({"mid": 4.0, "gone": 9.0}), profile)
    response = ranker.search(index, STROKE, text="stroke")
    found = {hit["_id"]: hit for hit in response["hits"]["hits"]}
    assert ids(response) == ["far", "mid", "near"]
    assert [hit["_score"] for hit in found.values()] == pytest.approx([0.5, 0.35, 0.3], abs=1e-6)
    assert response["hits"]["max_score"] == found["far"]["_score"]
    assert response["hits"]["total"] == {"value": 3, "relation": "eq"}
    dense = found["mid"]["trifuse"]["legs"]["dense"]
    assert dense["score"] == pytest.approx(0.75, abs=1e-6)
    assert dense["similarity"] == pytest.approx(0.5, abs=1e-6)
    assert dense["normalized"] == pytest.approx(0.5, abs=1e-6)
    assert (dense["weight"], dense["rank"]) == (0.3, 2)
    clicks = found["mid"]["trifuse"]["legs"]["clicks"]
    assert clicks == {"score": 4.0, "normalized": 1.0, "weight": 0.2, "rank": 1}
    assert found["mid"]["trifuse"]["legs"]["lexical"] is None
    assert states(response) == ["ok", "ok", "ok"]
    assert response["trifuse"]["profile"] == "default"
    assert response["took"] >= 0
    assert response["timed_out"] is False
    assert response["_shards"]["failed"] == 0
    assert found["mid"]["_source"] == {"title": "asthma"}


def test_f1_a_leg_with_a_single_hit(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    index = make_index([{"_id": "1", "title": "stroke"}, {"_id": "2", "title": "asthma", "angle": 10}])
    response = HybridRanker(client, tiny, profile=TWO).search(index, STROKE, text="stroke")
    assert [(hit["_id"], hit["_score"]) for hit in response["hits"]["hits"]] == [("1", 0.5), ("2", 0.5)]


def test_f4_extreme_weights(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    titles = ["stroke", "stroke in adults", "stroke in adults with diabetes", "asthma"]
    index = make_index(
        [{"_id": str(n), "title": title, "angle": 80 - 20 * n} for n, title in enumerate(titles)]
    )
    profile = Profile(weights={"lexical": 0.9998, "dense": 0.0001, "clicks": 0.0001})
    ranker = HybridRanker(client, tiny, given_clicks({"2": 5.0, "1": 1.0}), profile)
    lexical = client.search(index=index, body=STROKE)
    assert ids(ranker.search(index, STROKE, text="stroke"))[:3] == ids(lexical) == ["0", "1", "2"]


def test_f7_an_index_built_in_another_order(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    documents = [{"_id": id, "title": "stroke", "angle": 30} for id in ("b", "c", "a")]
    ranker = HybridRanker(client, tiny, profile=TWO)
    for suffix, order in (("-1", documents), ("-2", documents[::-1])):
        index = make_index(order, suffix=suffix)
        response = ranker.search(index, STROKE, text="stroke")
        assert ids(response) == ["a", "b", "c"]
        assert [hit["_score"] for hit in response["hits"]["hits"]] == [1.0, 1.0, 1.0]
        for combination in COMBINATIONS:
            profile = replace(TWO, combination=combination)
            assert ids(ranker.search(index, STROKE, text="stroke", profile=profile)) == ["a", "b", "c"]


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_f9_pages_add_up(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any, combination: str
) -> None:
    index = make_index(
        [{"_id": str(n), "title": "stroke " * (n % 3), "angle": 7 * n % 90} for n in range(40)], shards=3
    )
    clicks = given_clicks({str(n): 1 / n for n in range(1, 40, 4)})
    for normalization in NORMALIZATIONS:
        profile = Profile(combination=combination, normalization=normalization)
        ranker = HybridRanker(client, tiny, clicks, profile)
        whole = ids(ranker.search(index, STROKE, text="stroke", size=10))
        first = ids(ranker.search(index, STROKE, text="stroke", from_=0, size=5))
        second = ids(ranker.search(index, STROKE, text="stroke", from_=5, size=5))
        assert first + second == whole
        assert len(set(whole)) == 10


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_f10_a_floor_keeps_weak_hits_from_counting(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, combination: str
) -> None:
    """At 82° to 88° the engine's scores are 0.570 to 0.517: the best of them, x, is no good hit."""
    documents: list[dict[str, Any]] = [
        {"_id": "a", "title": "stroke", "angle": 88},
        {"_id": "b", "title": "stroke in adults", "angle": 86},
        {"_id": "x", "title": "asthma", "angle": 82},
    ]
    index = make_index(documents)
    weights = {"lexical": 0.4, "dense": 0.6}
    profile = Profile(weights=weights, combination=combination, floors={"dense": 0.6})
    ranker = HybridRanker(client, tiny, profile=profile)
    response = ranker.search(index, STROKE, text="stroke")
    assert ids(response) == ["a", "b"]
    dense = response["trifuse"]["legs"]["dense"]
    assert (dense["state"], dense["hits"]) == ("empty", 0)
    assert dense["reason"] == "3 hits below the floor of 0.6"
    lower = ranker.search(index, STROKE, text="stroke", profile=replace(profile, floors={"dense": 0.53}))
    assert lower["trifuse"]["legs"]["dense"]["hits"] == 2
    assert lower["trifuse"]["legs"]["dense"]["reason"] == "1 hit below the floor of 0.53"


def test_f13_the_total_never_varies_with_the_page(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    """30 match the query; the dense leg brings at most 10, of which none has to be among them."""
    index = make_index(
        [{"_id": str(n), "title": "stroke" if n < 30 else "asthma", "angle": n} for n in range(50)]
    )
    ranker = HybridRanker(client, tiny, profile=Profile(depth=10))
    pages = [(0, 1), (0, 10), (5, 5), (9, 1), (0, 0)]
    totals = [
        ranker.search(index, STROKE, text="stroke", from_=start, size=size)["hits"]["total"]
        for start, size in pages
    ]
    assert totals == [{"value": 30, "relation": "gte"}] * len(pages)


def test_f13_the_relation_is_exact_where_the_union_is_known(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    index = make_index(
        [{"_id": str(n), "title": "stroke" if n < 3 else "asthma", "angle": n} for n in range(5)]
    )
    ranker = HybridRanker(client, tiny)
    assert ranker.search(index, STROKE, text="stroke")["hits"]["total"] == {"value": 5, "relation": "eq"}
    lexical = HybridRanker(client, profile=Profile(depth=2))
    assert lexical.search(index, STROKE, text="stroke", size=1)["hits"]["total"] == {
        "value": 3,
        "relation": "eq",
    }
    capped = ranker.search(index, {**STROKE, "track_total_hits": 2}, text="stroke")["hits"]["total"]
    assert capped == {"value": 5, "relation": "gte"}


def test_f14_all_legs_empty(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    index = make_index([])
    response = HybridRanker(client, tiny, given_clicks({"gone": 1.0})).search(index, STROKE, text="stroke")
    assert response["hits"] == {"total": {"value": 0, "relation": "eq"}, "max_score": None, "hits": []}
    assert states(response) == ["empty", "empty", "empty"]


def test_f14_negative_scores(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    """Dense scores are positive; raw similarities needn't be: 180° is -1."""
    index = make_index([{"_id": "1", "title": "a", "angle": 180}, {"_id": "2", "title": "b", "angle": 120}])
    response = HybridRanker(client, tiny, profile=TWO).search(index, STROKE, text="stroke")
    similarities = [hit["trifuse"]["legs"]["dense"]["similarity"] for hit in response["hits"]["hits"]]
    assert similarities == pytest.approx([-0.5, -1.0], abs=1e-6)
    assert [hit["_score"] for hit in response["hits"]["hits"]] == [0.5, 0.0]


@pytest.mark.parametrize("text", ["the", "😀", " ".join(f"word{n}" for n in range(10_000))])
@pytest.mark.parametrize("own_body", [True, False])
def test_f15_no_analysable_term_leaves_the_dense_leg(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, text: str, own_body: bool
) -> None:
    index = make_index([{"_id": "1", "title": "stroke", "angle": 0}])
    body = {"query": {"match": {"title": text}}, "highlight": {"fields": {"title": {}}}} if own_body else None
    response = HybridRanker(client, tiny).search(index, body, text=text)
    assert ids(response) == ["1"]
    lexical, dense, _ = states(response)
    assert dense == "ok"
    assert lexical == ("failed" if len(text) > 1000 else "empty")
    if lexical == "failed":
        assert "maxClauseCount" in response["trifuse"]["legs"]["lexical"]["reason"]
        assert response["hits"]["total"] == {"value": 1, "relation": "gte"}


@pytest.mark.parametrize("own_body", [True, False])
def test_f15_more_words_than_the_page_can_be_fetched_by(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, own_body: bool
) -> None:
    """Without a lexical leg nothing has found out yet that the query is too long."""
    index = make_index([{"_id": "1", "title": "stroke", "angle": 0}])
    text = " ".join(f"word{n}" for n in range(10_000))
    body = {"query": {"match": {"title": text}}} if own_body else None
    ranker = HybridRanker(client, tiny, profile=Profile(weights={"dense": 1}))
    assert ids(ranker.search(index, body, text=text)) == ["1"]


def test_f15_an_empty_text(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    index = make_index([{"_id": "1", "title": "stroke", "angle": 0}])
    ranker = HybridRanker(client, tiny)
    nothing = ranker.search(index, text="")
    assert (ids(nothing), states(nothing)) == ([], ["empty", "skipped", "off"])
    browsing = ranker.search(index, {"query": {"match_all": {}}}, text=" ")
    assert (ids(browsing), states(browsing)) == (["1"], ["ok", "skipped", "off"])


def test_the_same_id_in_two_indices(client: OpenSearch, make_index: Callable[..., str], tiny: Any) -> None:
    """Each page holds the document that is ranked there, and not its namesake, which BM25 prefers."""
    one = make_index([{"_id": "x", "title": "stroke in adults", "angle": 0}], suffix="-1")
    two = make_index([{"_id": "x", "title": "stroke", "angle": 90}], suffix="-2")
    ranker = HybridRanker(client, tiny, profile=Profile(weights={"lexical": 0.1, "dense": 0.9}))
    pages = [
        ranker.search([one, two], STROKE, text="stroke", from_=n, size=1)["hits"]["hits"] for n in (0, 1)
    ]
    assert [[hit["_index"] for hit in page] for page in pages] == [[one], [two]]


def test_the_same_id_under_two_routings(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    """One index may hold an `_id` once per shard: they are two documents, perhaps of two tenants."""
    index = make_index(
        [
            {"_id": "1", "title": "stroke", "tenant": "a", "angle": 10, "_routing": "a"},
            {"_id": "1", "title": "stroke stroke", "tenant": "b", "angle": 20, "_routing": "d"},
            {"_id": "2", "title": "asthma", "tenant": "a", "angle": 30, "_routing": "a"},
        ],
        shards=4,
    )
    ranker = HybridRanker(client, tiny, given_clicks({"1": 1.0}))
    response = ranker.search(index, STROKE, text="stroke", filter={"term": {"tenant": "a"}})
    assert [(hit["_id"], hit["_source"]["tenant"]) for hit in response["hits"]["hits"]] == [
        ("1", "a"),
        ("2", "a"),
    ]
    everyone = ranker.search(index, STROKE, text="stroke")["hits"]["hits"]
    assert sorted((hit["_id"], hit["_routing"]) for hit in everyone) == [("1", "a"), ("1", "d"), ("2", "a")]
