"""Several shards, several indices behind one alias, documents of one id: fused here, and by the server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileNotNative

CLIENT = Profile(
    weights={"lexical": 2, "dense": 2, "clicks": 1}, normalization="min_max", clicks=ClickSettings(support=0)
)
BOTH = pytest.mark.parametrize("execution", ["client", "native"])
STROKE = {"query": {"match": {"title": "stroke"}}}
DOCUMENTS = [
    {
        "_id": f"d{n:02}",
        "title": " ".join(["stroke"] * (n % 4) + ["trial"] * (n % 5 + 1)),
        "tenant": "ab"[n % 2],
        "angle": (31 * n) % 88,
    }
    for n in range(30)
]
CLICKS = {"d03": 0.9, "d14": 0.6, "d21": 0.3}


def scores(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}


def ranked(response: dict[str, Any]) -> list[str]:
    """Documents, those of one score by `_id`: the server orders them in its own way."""
    found = {id: round(score, 5) for id, score in scores(response).items()}
    return sorted(found, key=lambda id: (-found[id], id))


@BOTH
def test_legs_of_all_shards_are_normalised_together(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any, execution: Any
) -> None:
    """BM25's statistics are each shard's own, as in any search: `dfs` makes one of them.

    So the lexical leg here is what a plain search gives, and the best of all shards has 1.0 in it.
    """
    index = make_index(DOCUMENTS, shards=3)
    ranker = HybridRanker(client, tiny, given_clicks(CLICKS), replace(CLIENT, execution=execution))
    plain = {
        hit["_id"]: hit["_score"]
        for hit in client.search(index=index, body={**STROKE, "size": 30})["hits"]["hits"]
    }
    lexical = Profile(weights={"lexical": 1}, execution=execution)
    found = scores(ranker.search(index, STROKE, text="x", profile=lexical, size=30))
    low, high = min(plain.values()), max(plain.values())
    expected = {id: (score - low) / (high - low) for id, score in plain.items()}
    assert found == pytest.approx(expected, abs=0.001 + 1e-6)
    dense = Profile(weights={"dense": 1}, execution=execution)
    angles = sorted(DOCUMENTS, key=lambda each: int(str(each["angle"])))
    assert ranked(ranker.search(index, STROKE, text="x", profile=dense, size=30)) == [
        each["_id"] for each in angles
    ]


def test_shards_rank_alike_in_both(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any
) -> None:
    index = make_index(DOCUMENTS, shards=3)
    here, there = (
        HybridRanker(client, tiny, given_clicks(CLICKS), replace(CLIENT, execution=execution)).search(
            index, STROKE, text="x", size=30
        )
        for execution in ("client", "native")
    )
    assert scores(there) == pytest.approx({id: score / 5 for id, score in scores(here).items()}, abs=0.0011)
    assert ranked(there) == ranked(here)


@pytest.mark.parametrize(("execution", "brought"), [("client", 4), ("native", 12)])
def test_how_deep_the_dense_leg_is(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, execution: Any, brought: int
) -> None:
    """Deviates: k and depth are each shard's natively; here a leg's hits of all are cut to the depth."""
    index = make_index([{**each, "_id": f"x{each['_id']}"} for each in DOCUMENTS], shards=3)
    profile = Profile(weights={"dense": 1}, depth=4, execution=execution)
    response = HybridRanker(client, tiny, profile=profile).search(index, STROKE, text="x", size=4)
    assert response["hits"]["total"]["value"] == brought
    assert len(response["hits"]["hits"]) == 4


@BOTH
def test_an_alias_over_two_indices(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any, execution: Any
) -> None:
    """Documents of one id are two; a click is evidence for either."""
    one, two = (make_index(DOCUMENTS[n::2], suffix=f"-{n}", shards=n + 1) for n in range(2))
    client.index(index=two, id="d00", body={"title": "renal", "tenant": "a"}, params={"refresh": "true"})
    alias = f"{one}-both"
    client.indices.put_alias(index=f"{one},{two}", name=alias)
    clicks = given_clicks({**CLICKS, "d00": 9.0})
    ranker = HybridRanker(client, tiny, clicks, replace(CLIENT, execution=execution))
    response = ranker.search(alias, STROKE, text="x", size=50)
    found = {(hit["_index"], hit["_id"]): hit["_score"] for hit in response["hits"]["hits"]}
    assert len(found) == len(response["hits"]["hits"]) == 31
    best = 1.0 if execution == "client" else 1 / 5
    assert found[two, "d00"] == pytest.approx(best)
    assert found[one, "d00"] > best


@BOTH
def test_f16_an_alias_with_a_filter_per_index(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any, execution: Any
) -> None:
    one, two = (make_index(DOCUMENTS, suffix=f"-{n}", shards=n + 1) for n in range(2))
    alias = f"{one}-both"
    for index, tenant in ((one, "a"), (two, "b")):
        client.indices.put_alias(index=index, name=alias, body={"filter": {"term": {"tenant": tenant}}})
    ranker = HybridRanker(client, tiny, given_clicks(CLICKS), replace(CLIENT, execution=execution, k=30))
    response = ranker.search(alias, STROKE, text="x", size=100)
    tenants = {each["_id"]: each["tenant"] for each in DOCUMENTS}
    assert {(hit["_index"], tenants[hit["_id"]]) for hit in response["hits"]["hits"]} == {
        (one, "a"),
        (two, "b"),
    }
    assert len(response["hits"]["hits"]) == 30


@BOTH
def test_routings(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Any, execution: Any
) -> None:
    documents = [{**each, "_routing": f"r{each['tenant']}"} for each in DOCUMENTS]
    index = make_index(documents, shards=3)
    ranker = HybridRanker(client, tiny, given_clicks(CLICKS), replace(CLIENT, execution=execution))
    filter = {"term": {"tenant": "a"}}
    response = ranker.search(index, STROKE, text="x", size=50, params={"routing": "ra"}, filter=filter)
    assert {hit["_routing"] for hit in response["hits"]["hits"]} == {"ra"}
    assert len(response["hits"]["hits"]) == 15


@BOTH
def test_an_alias_that_is_moved_to_another_space_is_noticed(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, execution: Any
) -> None:
    one, two = make_index(DOCUMENTS, suffix="-1"), make_index(DOCUMENTS, suffix="-2")
    other = EncoderSpace("tiny", "r2", "fp32", "cls", 3, True, "cosine")
    meta = meta_with_space(None, "trifuse_vector", Space(other, TextTemplate(("title",))))
    client.indices.put_mapping(index=two, body={"_meta": meta})
    alias = f"{one}-moved"
    client.indices.put_alias(index=one, name=alias)
    ranker = HybridRanker(client, tiny, profile=replace(CLIENT, execution=execution))
    assert len(ranker.search(alias, STROKE, text="x")["hits"]["hits"]) == 10
    client.indices.update_aliases(
        body={
            "actions": [{"remove": {"index": one, "alias": alias}}, {"add": {"index": two, "alias": alias}}]
        }
    )
    with pytest.raises(SpaceMismatch):
        ranker.search(alias, STROKE, text="x")


def test_one_index_of_two_has_no_vectors(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    one = make_index(DOCUMENTS, suffix="-1")
    two = make_index([{"_id": "plain", "title": "stroke"}], suffix="-2", vectors=False)
    profile = replace(CLIENT, execution="native")
    response = HybridRanker(client, tiny, profile=profile).search([one, two], STROKE, text="x", size=50)
    assert "plain" in scores(response)
    assert response["trifuse"]["legs"]["dense"]["reason"] == f"no vectors in {two}"


def test_natively_without_an_encoder_or_vectors(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any
) -> None:
    index = make_index(DOCUMENTS)
    profile = replace(CLIENT, execution="native")
    response = HybridRanker(client, profile=profile).search(index, STROKE, text="x", size=1)
    assert response["hits"]["max_score"] == pytest.approx(1.0)
    legs = response["trifuse"]["legs"]
    assert [legs[leg]["state"] for leg in ("lexical", "dense", "clicks")] == ["ok", "off", "off"]
    none = HybridRanker(client, profile=Profile(weights={"dense": 1}, execution="native"))
    assert none.search(index, STROKE, text="x")["hits"]["hits"] == []


def test_natively_the_profile_is_checked_before_anything_is_sent() -> None:
    unsent = HybridRanker(cast(OpenSearch, None), profile=Profile(execution="native"))
    with pytest.raises(ProfileNotNative, match=r"clicks\.support"):
        unsent.search("i", STROKE, text="x")
