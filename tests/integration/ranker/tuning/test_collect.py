"""What is collected is ranked offline as it is served."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import BodyError, ProfileMissing, UnreadableInput
from trifuse.ranker.evaluation import rank_all
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.tuning import collect
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

WORDS = ["stroke", "asthma", "aspirin", "lung", "brain", "child", "dose", "trial"]
QUERIES = {"q1": "stroke aspirin", "q2": "asthma child", "q3": "brain lung trial"}
BODY = {"query": {"match": {"title": "{{text}}"}}}
DEPTH = 40


def documents(rng: np.random.Generator) -> list[dict[str, Any]]:
    """120 titles of some words; some without a vector, some of another tenant."""
    found = []
    for number in range(120):
        title = " ".join(rng.choice(WORDS, size=rng.integers(2, 6)))
        document = {"_id": f"d{number:03d}", "title": title, "tenant": "xy"[number % 3 == 0]}
        found.append(document | ({"angle": float(rng.uniform(0, 90))} if number % 5 else {}))
    return found


@pytest.fixture
def ranker(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], embed_past: Any, tiny: Any
) -> Iterator[tuple[HybridRanker, str]]:
    """A ranker with clicks of four past queries, at different distances, on some of the documents."""
    rng = np.random.default_rng(3)
    index = make_index(documents(rng))
    past = {"stroke": 0, "asthma in children": 20, "brain": 35, "lung trial": 10}
    clicks = [
        ClickEvent(query=query, doc_id=f"d{doc:03d}", event_id=f"{query} {n}")
        for query in past
        for n, doc in enumerate(rng.integers(0, 130, 25).tolist())  # some are of no document
    ]
    Intake(client, redis_client, index, min_visitors=1).take(clicks)
    embed_past(index, past)
    with_clicks = HybridRanker(client, tiny, ClickStore(redis_client, client))
    yield with_clicks, index
    with_clicks.close()


BASE = Profile(clicks=ClickSettings(temperature=0.1, doubt=0.5, weighting="share"), depth=DEPTH)
SEGMENTS = {"HEAD": 1.0, "TORSO": 2.0, "TAIL": 0.3}
PROFILES: Mapping[str, Profile] = {
    "default": BASE,
    "lexical": replace(BASE, weights={"lexical": 1.0}),
    "dense and clicks": replace(BASE, weights={"dense": 0.4, "clicks": 2.0}),
    "lexical and clicks": replace(BASE, weights={"lexical": 0.4, "clicks": 2.0}),
    "clicks": replace(BASE, weights={"clicks": 1.0}),
    "unsupported": replace(BASE, clicks=replace(BASE.clicks, support=0.0)),
    "strongly supported": replace(
        BASE, weights={"lexical": 0.2, "dense": 0.8, "clicks": 1.0}, clicks=replace(BASE.clicks, support=4.0)
    ),
    "segments": replace(BASE, clicks=replace(BASE.clicks, segment_weights=SEGMENTS)),
    "rrf": replace(BASE, combination="rrf", rank_constant=10),
    "geometric": replace(BASE, combination="geometric_mean", normalization="min_max"),
    "dbsf": replace(BASE, combination="dbsf"),
    "softmax": replace(BASE, normalization={"lexical": "l2", "dense": "softmax"}),
    "shallow": replace(BASE, depth=7),
    "shallow legs": replace(BASE, depths={"lexical": 8, "dense": 6}),
    "floors": replace(BASE, floors={"dense": 0.8, "clicks": 0.01}),
    "rules": replace(BASE, rules=(Rule({"words": (3, None)}, {"dense": 0.05}),)),
}


@pytest.mark.parametrize("body", [None, BODY, {**BODY, "post_filter": {"term": {"tenant": "x"}}}])
def test_offline_is_what_is_served(ranker: tuple[HybridRanker, str], body: Mapping[str, Any] | None) -> None:
    collected = collect(ranker[0], ranker[1], QUERIES, profile=BASE, body=body)
    for name, profile in PROFILES.items():
        served = rank_all(ranker[0], ranker[1], QUERIES, profile=profile, depth=profile.depth, body=body)
        assert collected.rank(profile) == served.documents, name
        assert all(len(found) > 5 for found in served.documents.values()), name
    told = [collected.rank(PROFILES[name])["q1"] for name in ("lexical", "default", "unsupported", "rrf")]
    assert len(set(map(tuple, told))) == len(told)  # they aren't all the same by chance


def test_all_legs_are_collected_whatever_the_weights(ranker: tuple[HybridRanker, str]) -> None:
    lexical = replace(BASE, weights={"lexical": 1.0})
    collected = collect(ranker[0], ranker[1], QUERIES, profile=lexical, depth=25)
    assert collected.legs == ("lexical", "dense", "clicks")
    assert (collected.depth, collected.profile) == (25, lexical)
    assert {leg: count["ok"] for leg, count in collected.states.items()} == dict.fromkeys(collected.legs, 3)
    assert collected.segments == {"TAIL": 3}


def test_a_profile_goes_by_its_name_and_the_rankers_own_is_taken_else(
    ranker: tuple[HybridRanker, str], client: OpenSearch, tiny: Any
) -> None:
    hybrid, index = ranker
    known = hybrid.profile_of("lader-bm25")
    assert collect(hybrid, index, QUERIES, profile="lader-bm25").profile == known
    by_name = rank_all(hybrid, index, QUERIES, profile="lader-bm25")
    assert by_name == rank_all(hybrid, index, QUERIES, profile=known)
    assert by_name.documents["q1"]
    own = replace(BASE, name="own", body=BODY)
    collected = collect(HybridRanker(client, tiny, profile=own), index, QUERIES)
    assert collected.profile == own
    assert (
        collected.rank(own)
        == rank_all(
            hybrid, index, QUERIES, profile=replace(own, weights={"lexical": 0.5, "dense": 0.5}), depth=DEPTH
        ).documents
    )
    with pytest.raises(ProfileMissing, match="no profile 'nobodys'"):
        rank_all(hybrid, index, QUERIES, profile="nobodys")


def test_a_query_of_the_log_can_be_left_out_of_it(ranker: tuple[HybridRanker, str]) -> None:
    asked = {"q": "stroke"}
    with_it, without = (
        collect(ranker[0], ranker[1], asked, profile=BASE, leave_one_out=leave) for leave in (False, True)
    )
    served = rank_all(ranker[0], ranker[1], asked, profile=BASE, depth=DEPTH, leave_one_out=True)
    assert without.rank(BASE)["q"] == served.documents["q"] != with_it.rank(BASE)["q"]


def test_namesakes_in_two_indices_and_routed_documents(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, given_clicks: Callable[..., Any]
) -> None:
    first = make_index([{"_id": str(n), "title": "stroke " * (n + 1), "angle": 9 * n} for n in range(8)])
    make_index(
        [{"_id": str(n), "title": "stroke", "angle": 80 - 9 * n, "_routing": "r"} for n in range(8)],
        suffix="-b",
    )
    both = f"{first},{first}-b"
    ranker = HybridRanker(client, tiny, None)
    for index in (both, f"{first}-b"):
        collected = collect(ranker, index, {"q": "stroke"}, profile=BASE)
        served = rank_all(ranker, index, {"q": "stroke"}, profile=BASE, depth=DEPTH)
        assert collected.rank(BASE)["q"] == served.documents["q"]
    clicks = HybridRanker(client, tiny, given_clicks({"3": 0.5, "7": 0.2, "none": 0.1}))
    collected = collect(clicks, f"{first}-b", {"q": "stroke"}, profile=BASE, depth=2)
    served = rank_all(clicks, f"{first}-b", {"q": "stroke"}, profile=replace(BASE, depth=2), depth=2)
    assert collected.rank(replace(BASE, depth=2))["q"] == served.documents["q"] == ["3", "7"]


def test_the_cache_holds_until_the_index_changes(
    ranker: tuple[HybridRanker, str], client: OpenSearch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that is kept isn't sent; after a write that a refresh has shown it is sent again."""
    hybrid, index = ranker
    fresh = collect(hybrid, index, QUERIES, profile=BASE, cache=tmp_path)
    sent: list[str] = []
    asked = client.msearch

    def counted(*args: Any, **kwargs: Any) -> Any:
        sent.append(str(kwargs["body"]))
        return asked(*args, **kwargs)

    monkeypatch.setattr(client, "msearch", counted)
    again = collect(hybrid, index, QUERIES, profile=BASE, cache=tmp_path)
    assert not any("multi_match" in body for body in sent)  # checks of clicked documents are sent anew
    assert again.rank(BASE) == fresh.rank(BASE)
    collect(hybrid, index, QUERIES, profile=BASE, cache=tmp_path, depth=DEPTH - 1)
    assert sum("multi_match" in body for body in sent) == 3  # another depth is another request
    sent.clear()
    client.index(index=index, id="new", body={"title": "stroke aspirin"}, params={"refresh": "true"})
    changed = collect(hybrid, index, QUERIES, profile=BASE, cache=tmp_path)
    assert sum("multi_match" in body for body in sent) == 3
    assert "new" in changed.rank(BASE)["q1"]
    client.index(index=index, id="new", body={"title": "nothing"}, params={"refresh": "false"})
    collect(hybrid, index, QUERIES, profile=BASE, cache=tmp_path)
    client.indices.refresh(index=index)
    assert (
        "new"
        not in collect(hybrid, index, QUERIES, profile=replace(BASE), cache=tmp_path).rank(
            replace(BASE, weights={"lexical": 1.0})
        )["q1"]
    )


def test_a_body_that_collapses_is_refused(ranker: tuple[HybridRanker, str]) -> None:
    with pytest.raises(BodyError, match="leave 'collapse' out"):
        collect(ranker[0], ranker[1], QUERIES, body={**BODY, "collapse": {"field": "tenant"}})


def test_the_cache_knows_of_changes_that_are_no_writes(
    client: OpenSearch, make_index: Callable[..., str], tiny: Any, index_name: str, tmp_path: Path
) -> None:
    """Without vectors nothing of an alias's filter, or of how scores are made, stands in the requests."""
    alias, filters = f"{index_name}-some", [{"term": {"tenant": tenant}} for tenant in "xy"]
    titles = [f"stroke {'x ' * (3 - number)}" + "stroke " * number for number in range(4)]
    index = make_index(
        [{"_id": f"{n}", "title": each, "tenant": "xy"[n % 2]} for n, each in enumerate(titles)],
        vectors=False,
        aliases={alias: {"filter": filters[0]}},
    )
    lexical = Profile(weights={"lexical": 1.0})

    def ranked() -> list[str]:
        found = collect(HybridRanker(client, tiny), alias, {"q": "stroke"}, body=BODY, cache=tmp_path)
        return found.rank(lexical)["q"]

    assert sorted(ranked()) == ["0", "2"]
    client.indices.put_alias(index=index, name=alias, body={"filter": filters[1]})
    assert ranked() == ["3", "1"]
    client.indices.close(index=index)
    constant = {"type": "scripted", "script": {"source": "return 1.0 / doc.length"}}
    client.indices.put_settings(index=index, body={"index.similarity.default": constant})
    client.indices.open(index=index)
    client.cluster.health(index=index, params={"wait_for_status": "yellow"})
    assert ranked() == ["1", "3"]


@pytest.mark.parametrize("blob", [b"\x00\xff", "text", b"\x81\xa3lex\x81\x01"])
def test_a_kept_search_that_cannot_be_read_says_what_to_do(
    ranker: tuple[HybridRanker, str], tmp_path: Path, blob: bytes | str
) -> None:
    collect(*ranker, QUERIES, profile=BASE, cache=tmp_path)
    (file,) = tmp_path.iterdir()
    with closing(sqlite3.connect(file, isolation_level=None)) as kept:
        kept.execute("update legs set hits = ?", [blob])
    with pytest.raises(UnreadableInput, match=r"can't be used as a cache .*: delete it"):
        collect(*ranker, QUERIES, profile=BASE, cache=tmp_path)
