"""What holds for every profile: drawn at random, always the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.clicks.settings import SEGMENTS, ClickSettings
from trifuse.ranker.evaluation import rank_all
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.tuning import collect
from trifuse.ranker.types import LEGS
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake

WORDS = ["stroke", "asthma", "aspirin", "lung", "brain", "child"]
QUERIES = {"q1": "stroke aspirin", "q2": "asthma", "q3": "brain lung trial", "q4": "nothing that is there"}
PAST = {"stroke": 0, "asthma in children": 20, "brain": 35, "lung trial": 10}
DEPTH = 30
BODIES: Mapping[str, Mapping[str, Any] | None] = {
    "none": None,
    "filter": {
        "query": {
            "bool": {"must": {"match": {"title": "{{text}}"}}, "filter": {"term": {"tenant": "x"}}},
        }
    },
    "post_filter": {
        "query": {"match": {"title": "{{text}}"}},
        "post_filter": {"range": {"year": {"gte": 2003}}},
    },
}


@pytest.fixture
def ranker(
    client: OpenSearch, redis_client: Redis, make_index: Callable[..., str], embed_past: Any, tiny: Any
) -> Iterator[tuple[HybridRanker, str]]:
    """90 documents, many of which score the same; a fifth without vectors; every third click is of a document
    that is gone."""
    rng = np.random.default_rng(11)
    documents = [
        {
            "_id": f"d{number:02d}",
            "title": " ".join(rng.choice(WORDS, size=rng.integers(1, 4))),
            "tenant": "xxy"[number % 3],
            "year": 2000 + number % 7,
            **({"angle": float(rng.integers(0, 18) * 5)} if number % 5 else {}),
        }
        for number in range(90)
    ]
    index = make_index(documents)
    clicks = [
        ClickEvent(query=query, doc_id=f"d{doc:02d}", event_id=f"{query} {n}")
        for query in PAST
        for n, doc in enumerate(rng.integers(0, 135, 40).tolist())
    ]
    Intake(client, redis_client, index, min_visitors=1).take(clicks)
    embed_past(index, PAST)
    made = HybridRanker(client, tiny, ClickStore(redis_client, client))
    yield made, index
    made.close()


def any_profile(rng: np.random.Generator, settings: ClickSettings) -> Profile:
    """Every setting that decides a ranking, at random; `settings` say how the log is read."""

    def one_of(*values: Any) -> Any:
        return values[int(rng.integers(len(values)))]

    weights = {leg: one_of(0.0, 0.05, 0.5, 1.0, 3.0, 1e-9, 1e6) for leg in LEGS}
    if not any(weights.values()):
        weights["dense"] = 1.0
    run = [leg for leg in LEGS if weights[leg] > 0]
    floors = {"lexical": float(rng.uniform(0, 1.5)), "dense": float(rng.uniform(0.5, 1)), "clicks": 0.05}
    bounds = {"lexical": (0.0, None), "dense": (None, 1.0), "clicks": (0.0, 0.5)}
    by_segment = dict.fromkeys(SEGMENTS, one_of(0.0, 0.3, 2.0)) if rng.random() < 0.2 else None
    rules = (
        Rule({"words": (2, None), "lexical_entropy": (None, 0.9)}, {one_of(*run): one_of(0.1, 5.0)}),
        Rule({"segment": ("TAIL",)}, {one_of(*run): 0.7}),
    )
    return Profile(
        weights=weights,
        normalization={leg: one_of(*NORMALIZATIONS) for leg in LEGS},
        softmax_temperature={leg: one_of(0.01, 1.0, 20.0) for leg in LEGS if rng.random() < 0.5},
        combination=one_of(*COMBINATIONS),
        floors={leg: floor for leg, floor in floors.items() if rng.random() < 0.2},
        bounds={leg: pair for leg, pair in bounds.items() if rng.random() < 0.3},
        depth=int(rng.integers(1, DEPTH + 1)),
        depths={leg: int(rng.integers(1, DEPTH + 1)) for leg in ("lexical", "dense") if rng.random() < 0.2},
        rank_constant=one_of(1, 20, 60),
        clicks=replace(settings, support=one_of(0.0, 0.5, 4.0), segment_weights=by_segment),
        rules=rules if by_segment is None and rng.random() < 0.3 else (),
        click_budget_s=5.0,
    )


def any_settings(rng: np.random.Generator) -> ClickSettings:
    return ClickSettings(
        temperature=0.1, doubt=0.5, weighting="share", candidates=int(rng.choice([1, 4, 20, 500]))
    )


@pytest.mark.parametrize("body", BODIES)
def test_offline_it_ranks_as_it_serves(ranker: tuple[HybridRanker, str], body: str) -> None:
    hybrid, index = ranker
    rng = np.random.default_rng(77)
    for _ in range(4):
        settings = any_settings(rng)
        collected = collect(
            hybrid, index, QUERIES, profile=Profile(clicks=settings), body=BODIES[body], depth=DEPTH
        )
        for _ in range(20):
            profile = any_profile(rng, settings)
            served = rank_all(hybrid, index, QUERIES, profile=profile, depth=profile.depth, body=BODIES[body])
            assert collected.rank(profile) == served.documents, profile


@pytest.mark.parametrize("body", BODIES)
def test_f9_f13_pages_add_up_and_the_total_stays(ranker: tuple[HybridRanker, str], body: str) -> None:
    """Also where clicked documents are gone, of which a first page may not know."""
    hybrid, index = ranker
    rng = np.random.default_rng(6)
    for _ in range(30):
        profile = any_profile(rng, any_settings(rng))
        size = int(rng.integers(1, 8))
        text = QUERIES[f"q{rng.integers(1, 5)}"]
        given = fill_template(BODIES[body], text)
        whole = hybrid.search(index, given, text=text, size=profile.depth, profile=profile)
        pages = [
            hybrid.search(
                index, given, text=text, from_=start, size=min(size, profile.depth - start), profile=profile
            )
            for start in range(0, profile.depth, size)
        ]
        assert [_told(hit) for page in pages for hit in page["hits"]["hits"]] == [
            _told(hit) for hit in whole["hits"]["hits"]
        ], profile
        assert {str(page["hits"]["total"]) for page in pages} == {str(whole["hits"]["total"])}, profile
        assert {page["hits"]["max_score"] for page in pages} == {whole["hits"]["max_score"]}, profile


def _told(hit: Mapping[str, Any]) -> tuple[Any, ...]:
    return hit["_id"], hit["_score"], hit["trifuse"]["legs"]
