"""Stored profiles on a real cluster: versions, rollback, writers at once, an index changed by hand."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.embedded import embedded_indexes
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError, ProfileMissing, ProfileNotNative, SearchUnavailable
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published
from trifuse.ranker.profiles.store import ProfileStore

MINE = Profile(name="mine", weights={"lexical": 0.4, "dense": 0.6})


@pytest.fixture
def store(client: OpenSearch, index_name: str) -> ProfileStore:
    """A store of this test's own."""
    return ProfileStore(client, index=index_name)


def test_versions_count_from_one_and_the_last_is_current(store: ProfileStore) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    first = store.set(MINE, note="by hand", evidence={"nDCG@10": 0.41})
    second = store.set(replace(MINE, depth=50))
    assert (first.version, second.version) == (1, 2)
    found = store.get("mine")
    assert (found.version, found.current, found.profile) == (2, True, replace(MINE, depth=50))
    old = store.get("mine@1")
    assert (old.version, old.current, old.profile) == (1, False, MINE)
    assert (old.note, old.evidence) == ("by hand", {"nDCG@10": 0.41})
    assert before <= datetime.fromisoformat(old.at) <= datetime.now(UTC)
    assert [(each.version, each.current) for each in store.history("mine")] == [(2, True), (1, False)]


def test_all_settings_come_back(store: ProfileStore) -> None:
    profile = Profile.from_dict(
        {
            "name": "mine",
            "normalization": {"dense": "softmax"},
            "softmax_temperature": {"dense": 0.1},
            "clicks": {"m": 7, "doubt": -1e9},
            "body": {
                "query": {"match": {"brief.title": "{{text}}"}},
                "aggs": {"a.b": {"terms": {"field": "x"}}},
            },
            "rules": [{"when": {"words": [None, 2], "segment": ["TAIL"]}, "weights": {"clicks": 0}}],
        }
    )
    assert store.set(profile).profile == profile
    for name, each in published().items():
        mine = replace(each, name=f"my-{name}")
        assert store.set(mine).profile == mine


def test_a_rollback_is_a_new_version_that_equals_the_old_one(store: ProfileStore) -> None:
    store.set(MINE, evidence={"RR": 0.5})
    store.set(replace(MINE, depth=50))
    back = store.rollback("mine", 1)
    assert (back.version, back.profile, back.note, back.evidence) == (3, MINE, "as version 1", {"RR": 0.5})
    assert store.get("mine").version == 3
    assert store.get("mine@2").profile.depth == 50


def test_names_are_of_what_is_stored(store: ProfileStore, client: OpenSearch, index_name: str) -> None:
    assert store.names() == []
    assert not client.indices.exists(index=index_name), "reading made the index"
    store.set(replace(MINE, name="b"))
    store.set(replace(MINE, name="a"))
    store.set(replace(MINE, name="a"))
    assert store.names() == ["a", "b"]
    assert store.delete("a") == 2
    assert store.names() == ["b"]
    assert store.set(replace(MINE, name="a")).version == 1


@pytest.mark.parametrize(
    "reference", ["nope", "mine@3", "mine@0", "mine@x", "mine.json", "x" * 5000, "", "a b"]
)
def test_what_is_not_there(store: ProfileStore, client: OpenSearch, index_name: str, reference: str) -> None:
    with pytest.raises(ProfileMissing, match="there are default, lader"):
        store.get(reference)
    assert not client.indices.exists(index=index_name), "reading made the index"
    store.set(MINE)
    with pytest.raises(ProfileMissing, match=r"there are .*, mine|history mine"):
        store.get(reference)
    for wrong in (store.history, store.delete):
        with pytest.raises(ProfileMissing):
            wrong(reference)
    with pytest.raises(ProfileMissing):
        store.rollback(reference, 1)
    with pytest.raises(ProfileMissing):
        store.rollback("mine", 2)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("lader", "is built in"),
        ("default", "is built in"),
        ("lexical=1", "can't be the name"),
        ("mine@2", "can't be the name"),
        ("x" * 65, "can't be the name"),
        ("_mine", "can't be the name"),
        ("mïne", "can't be the name"),
        ("mine\n", "can't be the name"),
    ],
)
def test_names_that_cant_be_stored(store: ProfileStore, name: str, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        store.set(replace(MINE, name=name))


def test_writers_at_once_each_get_a_version(store: ProfileStore) -> None:
    """32 writers: none is lost, none twice, and the highest version is current."""
    profiles = [replace(MINE, depth=10 + number) for number in range(32)]
    with ThreadPoolExecutor(8) as pool:
        versions = [each.version for each in pool.map(store.set, profiles)]
    assert sorted(versions) == list(range(1, 33))
    assert store.get("mine").version == 32
    history = store.history("mine")
    assert [each.version for each in history] == list(range(32, 0, -1))
    assert [each.version for each in history if each.current] == [32]
    stored = {version: each.depth for version, each in zip(versions, profiles, strict=True)}
    assert {each.version: each.profile.depth for each in history} == stored


def test_a_writer_that_died_before_its_version_was_current(
    store: ProfileStore, client: OpenSearch, index_name: str
) -> None:
    store.set(MINE)
    orphan = client.get(index=index_name, id="mine@1")["_source"] | {"version": 2}
    client.index(index=index_name, id="mine@2", body=orphan, params={"refresh": "true"})
    assert store.get("mine").version == 1
    assert [(each.version, each.current) for each in store.history("mine")] == [(2, False), (1, True)]
    assert store.set(MINE).version == 3
    assert store.get("mine").version == 3


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"depth": "many"}, "depth is 'many'"),
        ({"lambda": 1}, "a profile has no 'lambda'"),
        ([1], "a profile is a list"),
        (None, "a profile is a NoneType"),
    ],
)
def test_a_version_that_was_changed_by_hand(
    store: ProfileStore, client: OpenSearch, index_name: str, settings: Any, message: str
) -> None:
    store.set(MINE)
    store.set(MINE)
    bad = client.get(index=index_name, id="mine@2")["_source"] | {"profile": settings}
    client.index(index=index_name, id="mine@2", body=bad, params={"refresh": "true"})
    with pytest.raises(ProfileError, match=f"the document {index_name}/mine@2 holds no profile.*{message}"):
        store.get("mine").profile  # noqa: B018
    assert len(store.history("mine")) == 2
    with pytest.raises(ProfileError, match="holds no profile"):
        store.rollback("mine", 2)
    assert store.rollback("mine", 1).version == 3
    assert store.get("mine").profile == MINE


@pytest.mark.parametrize(
    "current", [{"kind": "current", "name": "mine"}, {"kind": "current", "version": 9}, {}]
)
def test_a_pointer_that_was_changed_by_hand(
    store: ProfileStore, client: OpenSearch, index_name: str, current: dict[str, Any]
) -> None:
    store.set(MINE)
    client.index(index=index_name, id="mine", body=current, params={"refresh": "true"})
    with pytest.raises(
        ProfileError, match=f"{index_name}/mine names no version that is there.*rollback mine"
    ):
        store.get("mine")
    assert store.get("mine@1").profile == MINE
    back = store.rollback("mine", 1)
    assert store.get("mine").version == back.version
    assert store.names() == ["mine"]


def test_other_commands_pass_over_the_index(store: ProfileStore, client: OpenSearch, index_name: str) -> None:
    store.set(MINE)
    assert index_name not in embedded_indexes(client)


def test_a_cluster_that_does_not_answer() -> None:
    nowhere = OpenSearch(hosts=["http://127.0.0.1:9"], max_retries=0, timeout=1)
    try:
        for ask in (lambda: ProfileStore(nowhere).get("mine"), lambda: ProfileStore(nowhere).set(MINE)):
            with pytest.raises(SearchUnavailable):
                ask()
    finally:
        nowhere.close()


def test_a_version_as_json(store: ProfileStore) -> None:
    made = store.set(replace(MINE, clicks=ClickSettings(m=3)), note="n", evidence={"queries": 57})
    again = json.loads(json.dumps(made.as_dict()))
    assert again.keys() == {"name", "version", "current", "at", "note", "evidence", "profile"}
    assert Profile.from_dict(again["profile"]).clicks.m == 3


def test_a_native_profile_that_cannot_run_so_is_not_stored(store: ProfileStore) -> None:
    """The default's clicks are weighed by what the other legs found, which no server does."""
    with pytest.raises(ProfileNotNative, match=r"can't run natively: .*clicks.support"):
        store.set(replace(MINE, weights={"lexical": 1, "clicks": 1}, execution="native"))
    assert store.names() == []
    assert store.set(replace(MINE, execution="native", normalization="min_max")).version == 1
