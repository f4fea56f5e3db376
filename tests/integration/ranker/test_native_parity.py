"""The server's `hybrid` query gives the ranking that fusing here gives, where both can, on one shard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.clicks.settings import ClickSettings

STROKE = {"query": {"match": {"title": "stroke adults"}}}
WEIGHTS = {"lexical": 3.0, "dense": 2.0, "clicks": 1.0}
CLICKS = {"3": 0.9, "17": 0.5, "20": 0.4, "gone": 1.5}
UNSUPPORTED = ClickSettings(support=0)
"""Past queries that the other legs don't weigh: the server has the clicks with the query."""

FLOOR = 0.001
"""What the server's min_max gives a leg's worst hit, in the place of 0."""


def both(client: OpenSearch, tiny: Any, clicks: Any, index: str, profile: Profile, **search: Any) -> Any:
    """The responses of both executions: here, and by the server."""
    here, there = (
        HybridRanker(client, tiny, clicks, replace(profile, execution=execution)).search(
            index, STROKE, text="x", **search
        )
        for execution in ("client", "native")
    )
    return here, there


def scores(response: dict[str, Any]) -> dict[str, float]:
    return {hit["_id"]: hit["_score"] for hit in response["hits"]["hits"]}


def same(here: Mapping[str, float], there: Mapping[str, float], *, scale: float, floors: float) -> None:
    """The same documents at the same scores, and so in the same order but for what the floors turn round."""
    assert there.keys() == here.keys()
    assert there == pytest.approx({id: score / scale for id, score in here.items()}, abs=floors + 1e-6)


@pytest.fixture
def index(make_index: Callable[..., str]) -> str:
    """24 documents whose BM25 scores and angles differ, so that no two legs are tied."""
    return make_index(
        [
            {
                "_id": str(n),
                "title": " ".join(["stroke"] * (n % 5) + ["adults"] * (n % 3) + ["trial"] * (n % 7 + 1)),
                "angle": (37 * n) % 89,
            }
            for n in range(24)
        ]
    )


@pytest.mark.parametrize("combination", ["weighted_sum", "arithmetic_mean"])
@pytest.mark.parametrize("normalization", ["min_max", "l2"])
def test_means_of_three_legs(
    client: OpenSearch, tiny: Any, given_clicks: Any, index: str, normalization: str, combination: str
) -> None:
    profile = Profile(
        weights=WEIGHTS, normalization=normalization, combination=combination, clicks=UNSUPPORTED
    )
    here, there = both(client, tiny, given_clicks(CLICKS), index, profile, size=24)
    scale = sum(WEIGHTS.values()) if combination == "weighted_sum" else 1.0
    floors = FLOOR if normalization == "min_max" else 0.0
    same(scores(here), scores(there), scale=scale, floors=floors)
    assert list(scores(there)) == list(scores(here))
    assert there["trifuse"]["execution"] == "native"


@pytest.mark.parametrize("combination", ["geometric_mean", "harmonic_mean"])
def test_means_of_what_every_leg_brought(client: OpenSearch, tiny: Any, index: str, combination: str) -> None:
    """A missing leg is another matter: `test_native_cases.py`, F3."""
    profile = Profile(weights={"lexical": 3, "dense": 2}, normalization="min_max", combination=combination)
    here, there = both(client, tiny, None, index, profile, size=24)
    complete = {
        hit["_id"]: hit["_score"]
        for hit in here["hits"]["hits"]
        if all(hit["trifuse"]["legs"][leg] for leg in ("lexical", "dense"))
    }
    assert len(complete) > 15
    assert {id: scores(there)[id] for id in complete} == pytest.approx(complete, abs=1e-5)


@pytest.mark.parametrize("rank_constant", [1, 60])
def test_rrf(client: OpenSearch, tiny: Any, given_clicks: Any, index: str, rank_constant: int) -> None:
    """Ranks, where no leg has ties, are the same, and so are the scores."""
    profile = Profile(
        weights={"dense": 3, "clicks": 1}, combination="rrf", rank_constant=rank_constant, clicks=UNSUPPORTED
    )
    here, there = both(client, tiny, given_clicks(CLICKS), index, profile, size=24)
    assert list(scores(there)) == list(scores(here))
    same(scores(here), scores(there), scale=4.0, floors=0.0)


def test_bounds_outside_the_scores(client: OpenSearch, tiny: Any, index: str) -> None:
    profile = Profile(
        weights={"lexical": 1, "dense": 1},
        bounds={"lexical": (0.0, 50.0), "dense": (0.0, None)},
    )
    here, there = both(client, tiny, None, index, profile, size=24)
    assert list(scores(there)) == list(scores(here))
    same(scores(here), scores(there), scale=2.0, floors=0.0)


def test_z_scores_above_the_mean(client: OpenSearch, tiny: Any, index: str) -> None:
    """Ours count from the worst hit, the server's from the mean: they differ by the mean's."""
    profile = Profile(weights={"dense": 1}, normalization="z_score")
    here, there = both(client, tiny, None, index, profile, size=24)
    values = scores(here)
    mean = sum(values.values()) / len(values)
    above = {id: score - mean for id, score in values.items() if score - mean > FLOOR}
    assert len(above) > 8
    assert {id: scores(there)[id] for id in above} == pytest.approx(above, abs=1e-4)


def test_raw_scores_where_they_are_asked_for(
    client: OpenSearch, tiny: Any, given_clicks: Any, index: str
) -> None:
    profile = Profile(weights=WEIGHTS, normalization="min_max", clicks=UNSUPPORTED)
    here, there = both(client, tiny, given_clicks(CLICKS), index, profile, size=24, explain=True)
    ours = {hit["_id"]: hit["trifuse"]["legs"] for hit in here["hits"]["hits"]}
    for hit in there["hits"]["hits"]:
        for leg, found in hit["trifuse"]["legs"].items():
            expected = ours[hit["_id"]][leg]
            if expected is None:
                assert found is None
                continue
            assert found["score"] == pytest.approx(expected["score"], abs=1e-6)
            assert found.get("similarity") == pytest.approx(expected.get("similarity"), abs=1e-6)
            assert (found["normalized"], found["rank"]) == (None, None)
        assert hit["_explanation"]["value"] == hit["_score"]
        assert len(hit["_explanation"]["details"]) == sum(map(bool, hit["trifuse"]["legs"].values()))
        assert "matched_queries" not in hit
    legs = there["trifuse"]["legs"]
    assert {leg: legs[leg]["weight"] for leg in legs} == pytest.approx(
        {"lexical": 1 / 2, "dense": 1 / 3, "clicks": 1 / 6}
    )
    assert "neither normalized ones nor ranks" in there["trifuse"]["note"]


def test_no_leg_of_a_hit_is_told_unasked(client: OpenSearch, tiny: Any, index: str) -> None:
    profile = Profile(weights={"lexical": 1, "dense": 1})
    _, there = both(client, tiny, None, index, profile)
    assert {str(hit["trifuse"]["legs"]) for hit in there["hits"]["hits"]} == {
        "{'lexical': None, 'dense': None, 'clicks': None}"
    }
    assert "explain" in there["trifuse"]["note"]
    assert [each["hits"] for each in there["trifuse"]["legs"].values()] == [None, None, 0]
