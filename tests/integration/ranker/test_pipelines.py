"""Search pipelines of the user's: of the index or of the request, each applied once, over the page."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import BodyError, HybridRanker, Profile, SearchRejected
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileNotNative

STROKE = {"query": {"match": {"title": "stroke"}}}
CLIENT = Profile(
    weights={"lexical": 1, "dense": 1, "clicks": 1}, normalization="min_max", clicks=ClickSettings(support=0)
)
NATIVE = replace(CLIENT, execution="native")
COUNTING = {"split": {"field": "title", "separator": " "}}
"""Fails where it runs a second time: the field is no text any more."""
DOCUMENTS = [
    {"_id": "one", "title": "stroke in adults", "tenant": "a", "angle": 30},
    {"_id": "two", "title": "stroke", "tenant": "b", "angle": 60},
    {"_id": "near", "title": "asthma attack", "tenant": "a", "angle": 0},
    {"_id": "clicked", "title": "renal failure", "tenant": "b"},
]


@pytest.fixture
def put_pipeline(client: OpenSearch) -> Iterator[Callable[..., str]]:
    """Makes a search pipeline; its name."""
    made: list[str] = []

    def put(**body: Any) -> str:
        made.append(f"test-{uuid.uuid4().hex[:12]}")
        client.search_pipeline.put(id=made[-1], body=body)
        return made[-1]

    yield put
    for name in made:
        client.search_pipeline.delete(id=name)


@pytest.fixture
def index(client: OpenSearch, make_index: Callable[..., str]) -> Iterator[str]:
    made = make_index(DOCUMENTS)
    yield made
    client.indices.put_settings(index=made, body={"index.search.default_pipeline": None})


def set_default(client: OpenSearch, index: str, pipeline: str) -> None:
    client.indices.put_settings(index=index, body={"index.search.default_pipeline": pipeline})


@pytest.fixture
def ranker(client: OpenSearch, tiny: Any, given_clicks: Any) -> HybridRanker:
    """One clicked document, which no other leg brings: its page comes along with the check of it."""
    return HybridRanker(client, tiny, given_clicks({"clicked": 1.0}), CLIENT)


def titles(response: dict[str, Any]) -> dict[str, Any]:
    return {hit["_id"]: hit["_source"]["title"] for hit in response["hits"]["hits"]}


SPLIT = {
    "one": ["stroke", "in", "adults"],
    "two": ["stroke"],
    "near": ["asthma", "attack"],
    "clicked": ["renal", "failure"],
}


@pytest.mark.parametrize("profile", [CLIENT, NATIVE], ids=["client", "native"])
def test_the_indexs_own_shapes_each_hit_once(
    client: OpenSearch, index: str, ranker: HybridRanker, put_pipeline: Callable[..., str], profile: Profile
) -> None:
    before = ranker.search(index, STROKE, text="x", profile=profile)
    set_default(client, index, put_pipeline(response_processors=[COUNTING]))
    # One that knows nothing of the index yet.
    fresh = HybridRanker(client, ranker._encoders.of(None), ranker._lookups._clicks)
    after = fresh.search(index, STROKE, text="x", profile=profile)
    assert titles(after) == SPLIT
    assert [(hit["_id"], hit["_score"]) for hit in after["hits"]["hits"]] == [
        (hit["_id"], hit["_score"]) for hit in before["hits"]["hits"]
    ]


def test_the_indexs_own_is_in_no_leg(
    client: OpenSearch, index: str, ranker: HybridRanker, put_pipeline: Callable[..., str]
) -> None:
    """It would cut each leg to one hit, and the page with it."""
    set_default(client, index, put_pipeline(response_processors=[{"truncate_hits": {"target_size": 1}}]))
    response = ranker.search(index, STROKE, text="x", explain=True)
    legs = response["trifuse"]["legs"]
    assert [legs[leg]["hits"] for leg in ("lexical", "dense", "clicks")] == [2, 3, 1]
    assert len(response["hits"]["hits"]) == 1


def test_the_indexs_own_over_a_page_that_is_fetched_by_itself(
    client: OpenSearch, index: str, tiny: Any, put_pipeline: Callable[..., str]
) -> None:
    set_default(client, index, put_pipeline(response_processors=[COUNTING]))
    without_clicks = HybridRanker(client, tiny).search(index, STROKE, text="x")
    assert titles(without_clicks) == {id: SPLIT[id] for id in titles(without_clicks)}
    assert len(titles(without_clicks)) == 3


@pytest.mark.parametrize("where", ["body", "inline", "url"])
def test_the_requests_own_goes_with_the_page(
    index: str, ranker: HybridRanker, put_pipeline: Callable[..., str], where: str
) -> None:
    body: dict[str, Any] = dict(STROKE)
    params = {}
    if where == "inline":
        body["search_pipeline"] = {"response_processors": [COUNTING]}
    elif where == "body":
        body["search_pipeline"] = put_pipeline(response_processors=[COUNTING])
    else:
        params["search_pipeline"] = put_pipeline(response_processors=[COUNTING])
    assert titles(ranker.search(index, body, text="x", params=params)) == SPLIT


def test_the_requests_own_takes_the_place_of_the_indexs(
    client: OpenSearch, index: str, ranker: HybridRanker, put_pipeline: Callable[..., str]
) -> None:
    set_default(client, index, put_pipeline(response_processors=[COUNTING]))
    plain = titles(ranker.search(index, {**STROKE, "search_pipeline": "_none"}, text="x"))
    assert plain == {each["_id"]: each["title"] for each in DOCUMENTS}


def test_a_pipeline_that_is_not_there(index: str, ranker: HybridRanker) -> None:
    with pytest.raises(SearchRejected, match="Pipeline nowhere is not defined"):
        ranker.search(index, {**STROKE, "search_pipeline": "nowhere"}, text="x")
    with pytest.raises(BodyError, match="give a pipeline's name, or itself"):
        ranker.search(index, {**STROKE, "search_pipeline": 3}, text="x")


def test_what_a_pipeline_filters_is_not_on_the_page(
    client: OpenSearch, index: str, ranker: HybridRanker, put_pipeline: Callable[..., str]
) -> None:
    """A processor of requests sees the request of the page alone; natively there is no such request."""
    mine = {"filter_query": {"query": {"term": {"tenant": "a"}}}}
    set_default(client, index, put_pipeline(request_processors=[mine]))
    assert set(titles(ranker.search(index, STROKE, text="x"))) == {"one", "near"}
    fresh = HybridRanker(client, ranker._encoders.of(None), ranker._lookups._clicks, NATIVE)
    with pytest.raises(ProfileNotNative, match=r"changes requests \(filter_query\)"):
        fresh.search(index, STROKE, text="x")


def test_natively_ours_fuses_and_not_the_indexs(
    client: OpenSearch, index: str, tiny: Any, put_pipeline: Callable[..., str]
) -> None:
    """A team with hybrid queries has a default that fuses: it shapes nothing, and ours takes its place."""
    fusing = {"normalization-processor": {"combination": {"technique": "harmonic_mean"}}}
    before = HybridRanker(client, tiny, profile=NATIVE).search(index, STROKE, text="x")
    set_default(
        client, index, put_pipeline(phase_results_processors=[fusing], response_processors=[COUNTING])
    )
    after = HybridRanker(client, tiny, profile=NATIVE).search(index, STROKE, text="x")
    assert [hit["_score"] for hit in after["hits"]["hits"]] == [
        hit["_score"] for hit in before["hits"]["hits"]
    ]
    assert titles(after)["one"] == SPLIT["one"]
    assert len(titles(HybridRanker(client, tiny).search(index, STROKE, text="x"))) == 3


@pytest.mark.parametrize(
    ("defaults", "applied"),
    [(("p", None), True), (("p", "p"), True), (("p", "q"), False)],
)
def test_defaults_of_two_indices(
    client: OpenSearch,
    tiny: Any,
    make_index: Callable[..., str],
    put_pipeline: Callable[..., str],
    defaults: tuple[str, str | None],
    applied: bool,
) -> None:
    """The server runs a default that is the only one, over the hits of all indices; ours does the same."""
    names = {name: put_pipeline(response_processors=[COUNTING]) for name in "pq"}
    indices = [make_index(DOCUMENTS, suffix=f"-{n}") for n in range(2)]
    for index, default in zip(indices, defaults, strict=True):
        if default:
            set_default(client, index, names[default])
    plain = client.search(index=",".join(indices), body=STROKE)["hits"]["hits"]
    assert {isinstance(hit["_source"]["title"], list) for hit in plain} == {applied}
    for profile in (CLIENT, NATIVE):
        response = HybridRanker(client, tiny, profile=profile).search(indices, STROKE, text="x")
        found = {isinstance(hit["_source"]["title"], list) for hit in response["hits"]["hits"]}
        assert found == {applied}
    for index in indices:
        client.indices.put_settings(index=index, body={"index.search.default_pipeline": None})
