"""A running ranker and stored profiles: new versions, rules, its own body, a store that is gone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.errors import BodyError, ProfileError, ProfileMissing
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.profiles.store import PROFILES_INDEX, ProfileStore

LEXICAL = {"lexical": 1.0, "dense": 0.0, "clicks": 0.0}
DENSE = {"lexical": 0.0, "dense": 1.0, "clicks": 0.0}


@pytest.fixture
def store(client: OpenSearch) -> ProfileStore:
    return ProfileStore(client)


@pytest.fixture
def name(store: ProfileStore) -> Iterator[str]:
    """A name that no stored profile has; deleted after the test."""
    made = f"test-{uuid.uuid4().hex[:12]}"
    yield made
    with suppress(ProfileMissing):
        store.delete(made)


@pytest.fixture
def index(make_index: Callable[..., str]) -> str:
    """By BM25 `words` is the best for "stroke", by vectors `near`."""
    return make_index(
        [
            {"_id": "words", "title": "stroke stroke", "angle": 80},
            {"_id": "near", "title": "stroke after a fall of many years ago", "angle": 1},
            {"_id": "other", "title": "asthma", "angle": 40},
        ]
    )


def best(response: dict[str, Any]) -> str:
    return str(response["hits"]["hits"][0]["_id"])


def test_a_running_ranker_serves_a_new_version_within_seconds(
    client: OpenSearch, store: ProfileStore, name: str, index: str, tiny: Any
) -> None:
    store.set(Profile(name=name, weights=LEXICAL))
    with closing(HybridRanker(client, tiny, profile=name)) as ranker:
        first = ranker.search(index, text="stroke")
        assert (best(first), first["trifuse"]["profile"]) == ("words", name)
        assert (first["trifuse"]["profile_version"], first["trifuse"]["profile_note"]) == (1, None)
        store.set(Profile(name=name, weights=DENSE))
        started = time.monotonic()
        while ranker.search(index, text="stroke")["trifuse"]["profile_version"] == 1:
            assert time.monotonic() - started < 10
            time.sleep(0.1)
        assert best(ranker.search(index, text="stroke")) == "near"
        store.rollback(name, 1)
        while ranker.search(index, text="stroke")["trifuse"]["profile_version"] == 2:
            assert time.monotonic() - started < 20
            time.sleep(0.1)
        assert best(ranker.search(index, text="stroke")) == "words"


def test_a_search_names_a_profile_or_a_version_of_it(
    client: OpenSearch, store: ProfileStore, name: str, index: str, tiny: Any
) -> None:
    store.set(Profile(name=name, weights=LEXICAL))
    store.set(Profile(name=name, weights=DENSE))
    with closing(HybridRanker(client, tiny)) as ranker:
        found = {each: ranker.search(index, text="stroke", profile=each) for each in (name, f"{name}@1")}
        assert [best(each) for each in found.values()] == ["near", "words"]
        assert [each["trifuse"]["profile"] for each in found.values()] == [name, f"{name}@1"]
        assert [each["trifuse"]["profile_version"] for each in found.values()] == [2, 1]
        built_in = ranker.search(index, text="stroke", profile="lader-no-log")["trifuse"]
        assert (built_in["profile"], built_in["profile_version"]) == ("lader-no-log", None)
        with pytest.raises(ProfileError, match="there is no profile 'nope': there are default, lader,"):
            ranker.search(index, text="stroke", profile="nope")
        with pytest.raises(ProfileError, match=f"the profile '{name}' has no version 3"):
            ranker.search(index, text="stroke", profile=f"{name}@3")


def test_the_profiles_own_body(
    client: OpenSearch, store: ProfileStore, name: str, index: str, tiny: Any
) -> None:
    body = {"query": {"match_phrase": {"title": "{{text}}"}}, "size": 1, "_source": ["title"]}
    store.set(Profile(name=name, weights=LEXICAL, body=body))
    with closing(HybridRanker(client, tiny, profile=name)) as ranker:
        own = ranker.search(index, text="a fall")
        assert [hit["_id"] for hit in own["hits"]["hits"]] == ["near"]
        assert own["hits"]["hits"][0]["_source"].keys() == {"title"}
        given = ranker.search(index, {"query": {"match": {"title": "asthma"}}}, text="a fall")
        assert [hit["_id"] for hit in given["hits"]["hits"]] == ["other"]
        quoted = ranker.search(index, text='"}}, {"match_all": {}}')
        assert quoted["hits"]["hits"] == []
        with pytest.raises(BodyError, match="text is None"):
            ranker.search(index, text=None)  # type: ignore[arg-type]


def test_a_rule_weighs_by_the_query(client: OpenSearch, index: str, tiny: Any) -> None:
    short = Rule({"words": (None, 1)}, {"lexical": 0.0}, name="short")
    profile = Profile(name="p", weights={"lexical": 10, "dense": 0.1}, rules=(short,))
    with closing(HybridRanker(client, tiny, profile=profile)) as ranker:
        ruled = ranker.search(index, text="stroke")
        assert (best(ruled), ruled["trifuse"]["rule"]) == ("near", "short")
        assert ruled["trifuse"]["legs"]["lexical"]["weight"] == 0.0
        assert ruled["trifuse"]["legs"]["lexical"]["state"] == "off"
        assert all(hit["trifuse"]["legs"]["lexical"] is None for hit in ruled["hits"]["hits"])
        without = ranker.search(index, text="stroke stroke", explain=True)
        assert (best(without), without["trifuse"]["rule"]) == ("words", None)
        features = without["trifuse"]["features"]
        assert (features["words"], features["segment"]) == (2, None)
        assert 0 < features["lexical_entropy"] < 0.001, "of two hits"
        assert 0 < features["dense_entropy"] < 1


def test_a_rule_by_segment_and_clicks(
    client: OpenSearch, index: str, tiny: Any, given_clicks: Callable[..., Any]
) -> None:
    """What the log doesn't know is a TAIL query; a rule may leave the clicks of one out."""
    tail = Rule({"segment": ("TAIL",)}, {"clicks": 0.0})
    profile = Profile(weights={"lexical": 0.5, "clicks": 5.0})
    with closing(HybridRanker(client, tiny, given_clicks({"other": 0.9}), profile)) as ranker:
        assert best(ranker.search(index, text="stroke")) == "other"
        ruled = ranker.search(index, text="stroke", profile=replace(profile, rules=(tail,)))
        assert best(ruled) == "words"
        assert ruled["trifuse"]["legs"]["clicks"]["state"] == "off"
        assert [hit["_id"] for hit in ruled["hits"]["hits"]] == ["words", "near"]


@pytest.fixture
def own_client(own_services: Any) -> Iterator[OpenSearch]:
    made = OpenSearch(hosts=[own_services.opensearch_url], timeout=30, max_retries=0)
    yield made
    made.close()


def test_where_the_store_is_gone_the_last_known_is_served(own_client: OpenSearch, tiny: Any) -> None:
    """The index of profiles is closed: it refuses to answer, and others go on."""
    index = f"test-{uuid.uuid4().hex[:12]}"
    body = {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {"title": {"type": "text"}}}}
    own_client.indices.create(index=index, body=body)
    own_client.index(index=index, id="1", body={"title": "stroke"}, params={"refresh": "true"})
    query = {"query": {"match": {"title": "stroke"}}}
    ProfileStore(own_client).set(Profile(name="mine", weights=LEXICAL))
    try:
        with closing(HybridRanker(own_client, tiny, profile="mine")) as ranker:
            assert ranker.search(index, query, text="stroke")["trifuse"]["profile_note"] is None
            own_client.indices.close(index=PROFILES_INDEX)
            noted = _until(lambda: ranker.search(index, query, text="stroke"), noted=True)
            assert best(noted) == "1"
            assert noted["trifuse"]["profile_version"] == 1
            assert "s ago, and not since: OpenSearch" in noted["trifuse"]["profile_note"]
            own_client.indices.open(index=PROFILES_INDEX)
            _until(lambda: ranker.search(index, query, text="stroke"), noted=False)
    finally:
        own_client.indices.delete(index=f"{index},{PROFILES_INDEX}")


def _until(search: Callable[[], dict[str, Any]], *, noted: bool) -> dict[str, Any]:
    for _ in range(150):
        response = search()
        if (response["trifuse"]["profile_note"] is not None) is noted:
            return response
        time.sleep(0.1)
    raise TimeoutError
