"""The F cases where OpenSearch fuses; where it does otherwise than fusing here, what it does.

`docs/fusion.md` ("What the server does otherwise") lists the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileNotNative

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


@pytest.mark.parametrize("normalization", ["min_max", "l2", "z_score"])
def test_f1_a_leg_with_a_single_hit(
    search_natively: Callable[..., Any], three: str, normalization: str
) -> None:
    """1.0, of which the mean of two legs is half; deviates for z_score: the raw score."""
    profile = native(normalization=normalization, combination="arithmetic_mean", k=1)
    response = search_natively(three, by_score({"far": 7.2}), profile=profile)
    far = 7.2 if normalization == "z_score" else 1.0
    assert scores(response) == pytest.approx({"far": far / 2, "near": 0.5})


@pytest.mark.parametrize(("normalization", "each"), [("min_max", 1.0), ("l2", 2**-0.5), ("z_score", 7.2)])
def test_f1_a_leg_whose_hits_all_have_one_score(
    search_natively: Callable[..., Any], three: str, normalization: str, each: float
) -> None:
    profile = native(weights={"lexical": 1}, normalization=normalization)
    response = search_natively(three, by_score({"far": 7.2, "mid": 7.2}), profile=profile)
    assert scores(response) == pytest.approx({"far": each, "mid": each})


def test_f2_z_scores_are_not_monotone(search_natively: Callable[..., Any], three: str) -> None:
    """Deviates: all below the mean get 0.001, and a hit at the mean gets the best raw score.

    1, 2, 3 have a mean of 2 and a deviation of 1: the best is 1 above, and falls behind the second.
    """
    profile = native(weights={"lexical": 1}, normalization="z_score")
    response = search_natively(three, by_score({"far": 1.0, "mid": 2.0, "near": 3.0}), profile=profile)
    assert scores(response) == pytest.approx({"mid": 3.0, "near": 1.0, "far": 0.001})
    assert ids(response) == ["mid", "near", "far"]
    shifted = search_natively(three, by_score({"far": 1.0, "mid": 1.9, "near": 3.0}), profile=profile)
    assert (ids(shifted)[0], scores(shifted)["mid"]) == ("near", pytest.approx(0.001))


@pytest.mark.parametrize(
    ("combination", "both"), [("geometric_mean", 0.5**0.5), ("harmonic_mean", 1 / (0.5 / 1 + 0.5 / 0.5))]
)
def test_f3_one_more_matching_leg_may_lower_a_document(
    search_natively: Callable[..., Any], three: str, combination: str, both: float
) -> None:
    """Deviates: a missing leg is left out of the mean, so that `mid`, found by both legs, falls behind.

    In the dense leg it has 0.5, and in the lexical leg 1.0; without its 0.5 it would have 1.0.
    """
    response = search_natively(three, by_score({"mid": 5.0}), profile=native(combination=combination))
    assert scores(response) == pytest.approx({"near": 1.0, "mid": both, "far": 0.001}, abs=1e-6)


def test_f4_extreme_weights(search_natively: Callable[..., Any], three: str) -> None:
    profile = native(weights={"lexical": 0.9998, "dense": 0.0001, "clicks": 0.0001}, normalization="min_max")
    body = by_score({"far": 3.0, "mid": 2.0, "near": 1.0})
    response = search_natively(three, body, {"near": 5.0, "mid": 1.0}, profile=profile)
    assert ids(response) == ["far", "mid", "near"]


def test_f5_rrf_by_hand(search_natively: Callable[..., Any], three: str) -> None:
    """First in both legs at a rank constant of 20: 2/21, at weights that sum to 1 half of it."""
    profile = native(combination="rrf", rank_constant=20)
    response = search_natively(three, by_score({"near": 3.0, "mid": 2.0}), profile=profile)
    expected = {"near": 1 / 21, "mid": 1 / 22, "far": 0.5 / 23}
    assert scores(response) == pytest.approx(expected)
    assert ids(response) == list(expected)


def test_f6_a_document_of_both_legs_comes_first(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Dense X, a, Y; lexical b, c, Y: 2 · 0.5/63 for Y, and 0.5/61 for either first."""
    index = make_index(
        [{"_id": id, "title": id, "angle": angle} for id, angle in [("xx", 0), ("aa", 20), ("yy", 40)]]
        + [{"_id": id, "title": id} for id in ("bb", "cc")]
    )
    profile = native(combination="rrf")
    response = search_natively(index, by_score({"bb": 3.0, "cc": 2.0, "yy": 1.0}), profile=profile)
    assert ids(response)[0] == "yy"
    expected = {"yy": 1 / 63, "xx": 0.5 / 61, "bb": 0.5 / 61, "aa": 0.5 / 62, "cc": 0.5 / 62}
    assert scores(response) == pytest.approx(expected)


def test_f7_equal_documents_are_in_the_order_of_the_index(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Deviates: by score, then as they were indexed; a rebuilt index may have another order."""
    documents = [{"_id": id, "title": "stroke", "angle": 30} for id in ("b", "c", "a")]
    for suffix, order in (("-1", documents), ("-2", documents[::-1])):
        response = search_natively(make_index(order, suffix=suffix), STROKE)
        assert scores(response) == pytest.approx(dict.fromkeys("abc", 1.0))
        assert ids(response) == [each["_id"] for each in order]


def test_f7_rrf_ranks_equal_documents_by_the_order_of_the_index(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """Deviates as above: the first of two equal hits has rank 1, here the one whose `_id` is the first."""
    index = make_index([{"_id": id, "title": "stroke"} for id in ("b", "a")])
    profile = native(weights={"lexical": 1}, combination="rrf")
    assert scores(search_natively(index, STROKE, profile=profile)) == pytest.approx(
        {"b": 1 / 61, "a": 1 / 62}
    )


def test_f8_a_document_of_every_leg_is_one_hit(search_natively: Callable[..., Any], three: str) -> None:
    profile = native(weights={"lexical": 1, "dense": 1, "clicks": 2}, normalization="min_max")
    response = search_natively(three, by_score({"near": 3.0, "mid": 1.0}), {"near": 2.0}, profile=profile)
    assert ids(response) == ["near", "mid", "far"]
    assert scores(response)["near"] == pytest.approx(1.0)


@pytest.mark.parametrize("settings", FUSIONS, ids=lambda each: "-".join(each.values()))
@pytest.mark.parametrize("shards", [1, 3])
def test_f9_pages_add_up(
    search_natively: Callable[..., Any], make_index: Callable[..., str], settings: dict[str, str], shards: int
) -> None:
    index = make_index(
        [{"_id": str(n), "title": "stroke " * (n % 5), "angle": 7 * n % 90} for n in range(40)], shards=shards
    )
    profile = native(**settings)
    whole, first, second = (
        ids(search_natively(index, STROKE, profile=profile, from_=start, size=size))
        for start, size in ((0, 10), (0, 5), (5, 5))
    )
    assert first + second == whole
    assert len(set(whole)) == 10


def test_f10_a_floor_is_refused_and_a_bound_keeps_a_weak_leg_low(
    search_natively: Callable[..., Any], make_index: Callable[..., str]
) -> None:
    """The best of three cosines around 0 is 0.05 above the worst: at bounds of 0 and 1 it is about a half."""
    index = make_index([{"_id": str(angle), "title": "stroke", "angle": angle} for angle in (88, 89, 90)])
    with pytest.raises(ProfileNotNative, match="dense has a floor"):
        search_natively(index, STROKE, profile=native(floors={"dense": 0.6}))
    weak = search_natively(index, STROKE, profile=native(weights={"dense": 1}))
    bound = search_natively(index, STROKE, profile=native(weights={"dense": 1}, bounds={"dense": (0.0, 1.0)}))
    assert scores(weak)["88"] == pytest.approx(1.0)
    assert scores(bound) == pytest.approx({"88": 0.517, "89": 0.509, "90": 0.5}, abs=1e-3)


def test_f10_a_bound_among_the_scores_turns_hits_round(
    search_natively: Callable[..., Any], three: str
) -> None:
    """Deviates: a hit below the bound is measured from the leg's worst, so that it may pass one above it.

    At 2.9 of a range of 1 to 3 a hit has 0.95; 2.91, above the bound, has (2.91 - 2.9) / (3 - 2.9) = 0.1.
    """
    body = by_score({"near": 3.0, "mid": 2.91, "far": 1.0})
    profile = native(weights={"lexical": 1}, bounds={"lexical": (2.9, None)})
    response = search_natively(three, body, profile=profile)
    assert scores(response) == pytest.approx({"near": 1.0, "mid": 0.1, "far": 0.001}, abs=1e-4)
    assert scores(search_natively(three, by_score({"near": 3.0}), profile=profile)) == {"near": 1.0}
