"""The F cases that fusion alone decides, each a test named after it; serving's are integration tests."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.fuse import fuse
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS, Fusion, LegHits, Scaling, combine
from trifuse.ranker.fusion.dbsf import three_deviations
from trifuse.ranker.fusion.normalization import Normalization
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.types import Key

PAIRS = list(itertools.product(NORMALIZATIONS, COMBINATIONS))
MEANS = ["geometric_mean", "harmonic_mean"]


def key(id: str) -> Key:
    return Key(id, "i")


def leg(*documents: str, **scores: float | None) -> LegHits:
    """A leg of documents, best first, or of documents with their scores."""
    ranked = {id: float(-place) for place, id in enumerate(documents)}
    return LegHits.of((key(id), score) for id, score in {**ranked, **scores}.items())


def fused(normalization: str, combination: str, weights: dict[str, float], **legs: LegHits) -> Fusion:
    technique = COMBINATIONS[combination]
    normalize = technique.normalization or NORMALIZATIONS[normalization]
    normalized = {name: normalize(np.array(hits.scores), Scaling()) for name, hits in legs.items()}
    return combine(legs, normalized, weights, technique)


def ids(fusion: Fusion) -> list[str]:
    return [key.id for key in fusion.keys]


@pytest.mark.parametrize("scores", [[7.2], [0.0], [-7.2], [3.5] * 4, [0.0] * 4, [-3.5] * 4])
@pytest.mark.parametrize(
    ("normalize", "constant"),
    [
        (NORMALIZATIONS["min_max"], lambda n: 1.0),
        (NORMALIZATIONS["z_score"], lambda n: 1.0),
        (NORMALIZATIONS["l2"], lambda n: n**-0.5),
        (NORMALIZATIONS["softmax"], lambda n: 1 / n),
        (three_deviations, lambda n: 0.5),
    ],
)
def test_f1_a_single_hit_or_equal_scores(
    normalize: Normalization, constant: Any, scores: list[float]
) -> None:
    assert normalize(np.array(scores), Scaling()).tolist() == [constant(len(scores))] * len(scores)


def test_f1_a_leg_with_one_hit_by_the_default_profile() -> None:
    found = fuse({"lexical": leg(a=7.2)}, Profile(weights={"lexical": 0.5, "dense": 0.5})).candidate(0)
    assert found.score == 0.5
    assert found.legs["lexical"] is not None
    assert found.legs["lexical"].normalized == 1.0


def test_f2_z_score_tells_the_worse_half_apart() -> None:
    """The sample's deviation is 1. OpenSearch 3.6.0 makes [0.001, 3, 1] of it."""
    assert NORMALIZATIONS["z_score"](np.array([1.0, 2.0, 3.0]), Scaling()).tolist() == [0.0, 1.0, 2.0]


def test_f2_z_scores_of_a_whole_leg_stay_apart() -> None:
    scores = np.geomspace(1e-3, 1e3, 10_000)
    assert (np.diff(NORMALIZATIONS["z_score"](scores, Scaling())) > 0).all()


@pytest.mark.parametrize("combination", MEANS)
def test_f3_a_missing_leg_counts_as_a_thousandth(combination: str) -> None:
    """x is at 1 in one of three legs: OpenSearch's mean of it is 1, ahead of y, at 1, 0.5 and 0.5."""
    legs = {"l": leg(x=1.0, y=1.0, z=0.0), "d": leg(y=0.5, z=0.0, u=1.0), "c": leg(y=0.5, z=0.0, u=1.0)}
    fusion = fused("min_max", combination, dict.fromkeys("ldc", 1.0), **legs)
    expected = {
        "geometric_mean": {"y": 0.25 ** (1 / 3), "u": 0.001 ** (1 / 3), "x": 1e-6 ** (1 / 3), "z": 0.001},
        "harmonic_mean": {"y": 3 / 5, "u": 3 / 1002, "x": 3 / 2001, "z": 0.001},
    }
    assert dict(zip(ids(fusion), fusion.scores.tolist(), strict=True)) == pytest.approx(expected[combination])


@pytest.mark.parametrize("combination", COMBINATIONS)
@pytest.mark.parametrize("added", [1.0, 0.4, 0.0])
def test_f3_one_more_matching_leg_never_lowers_a_rank(combination: str, added: float) -> None:
    """b and c are the same in the first leg; c is in the second leg too, however low there."""
    for scores in itertools.permutations([0.8, 0.4, 0.4]):
        first = dict(zip("abc", scores, strict=True))
        second = leg(d=1.0, e=0.2, c=added)
        alone = ids(fused("none", combination, {"l": 1.0, "d": 1.0}, l=leg(**first), d=leg(d=1.0, e=0.2)))
        more = ids(fused("none", combination, {"l": 1.0, "d": 1.0}, l=leg(**first), d=second))
        others = {id for id in "ab" if alone.index(id) > alone.index("c")}
        assert all(more.index(id) > more.index("c") for id in others)


@pytest.mark.parametrize(
    ("normalization", "combination"), [pair for pair in PAIRS if pair != ("none", "harmonic_mean")]
)
def test_f4_extreme_weights_give_the_order_of_the_first_leg(normalization: str, combination: str) -> None:
    """But where raw scores of 4 meet the 0.001 of a missing leg in a harmonic mean: 0.0001 / 0.001 is 0.1."""
    legs = {
        "l": leg(a=4.0, b=3.0, c=2.0, d=1.0),
        "d": leg(d=4.0, c=3.0, b=2.0, a=1.0),
        "c": leg(d=3.0, b=1.0),
    }
    fusion = fused(normalization, combination, {"l": 0.9998, "d": 0.0001, "c": 0.0001}, **legs)
    assert ids(fusion) == ["a", "b", "c", "d"]


def test_f5_rrf_of_a_document_first_in_two_legs() -> None:
    """Ranks count from 1: 1 / (20 + 1) twice; b and c, each second once, are ordered by their ids."""
    profile = Profile(weights={"lexical": 1, "dense": 1}, combination="rrf", rank_constant=20)
    fusion = fuse({"lexical": leg("a", "c"), "dense": leg("a", "b")}, profile)
    assert ids(fusion) == ["a", "b", "c"]
    assert fusion.scores.tolist() == pytest.approx([2 / 21, 1 / 22, 1 / 22], abs=1e-15)


@pytest.mark.parametrize("rank_constant", [0, -1, 1.5, None])
def test_f5_a_rank_constant_below_one_is_refused(rank_constant: Any) -> None:
    with pytest.raises(ProfileError, match=f"rank_constant is {rank_constant}: give a whole number from 1"):
        Profile(combination="rrf", rank_constant=rank_constant)


def test_f5_equal_scores_in_a_leg_are_ranked_by_id() -> None:
    fusion = fused("none", "rrf", {"l": 1.0}, l=leg(b=1.0, a=1.0, c=1.0))
    assert [(id, rank[0]) for id, rank in zip(ids(fusion), fusion.ranks.tolist(), strict=True)] == [
        ("a", 1),
        ("b", 2),
        ("c", 3),
    ]


def test_f6_rrf_gives_absent_documents_no_rank() -> None:
    """Y has 1/63 twice; X and b are first in one leg, a and c second."""
    fusion = fused("none", "rrf", {"d": 1.0, "l": 1.0}, d=leg("X", "a", "Y"), l=leg("b", "c", "Y"))
    assert ids(fusion) == ["Y", "X", "b", "a", "c"]
    assert fusion.scores.tolist() == pytest.approx([2 / 63, 1 / 61, 1 / 61, 1 / 62, 1 / 62], abs=1e-15)
    assert fusion.candidate(1).legs["l"] is None


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
def test_f7_equal_documents_are_ordered_by_id(normalization: str, combination: str) -> None:
    weights = {"l": 0.7, "d": 0.3}
    orders = []
    for order in itertools.permutations("abc"):
        legs = {name: LegHits.of((key(id), 1.0) for id in order) for name in "ld"}
        fusion = fused(normalization, combination, weights, **legs)
        orders.append(ids(fusion))
    assert orders == [["a", "b", "c"]] * 6


def test_f7_the_same_id_in_two_indices_is_two_documents() -> None:
    hits = LegHits.of([(Key("a", "i2"), 1.0), (Key("a", "i1"), 1.0)])
    fusion = fused("min_max", "weighted_sum", {"l": 1.0}, l=hits)
    assert [key.index_name for key in fusion.keys] == ["i1", "i2"]


def test_f8_a_repeated_document_counts_once_with_its_best_score() -> None:
    hits = LegHits.of([(key("a"), 1.0), (key("b"), 2.0), (key("a"), 3.0), (key("b"), 0.5)])
    assert hits == LegHits((key("a"), key("b")), (3.0, 2.0))


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
def test_f9_the_order_has_no_ties_that_a_page_could_break(normalization: str, combination: str) -> None:
    """Many equal scores: every document is there once, by score, then by `_id`."""
    legs = {"l": leg(**{f"n{n}": n % 3 for n in range(30)}), "d": leg(**{f"n{n}": n % 2 for n in range(40)})}
    fusion = fused(normalization, combination, {"l": 0.5, "d": 0.5}, **legs)
    places = list(zip((-fusion.scores).tolist(), ids(fusion), strict=True))
    assert places == sorted(places)
    assert len(set(ids(fusion))) == 40


def test_f10_a_floor_keeps_a_weak_best_hit_from_counting_as_the_best() -> None:
    """The dense leg's best, 0.003 above all others, is below the floor."""
    weak = leg(x=0.503, a=0.5, b=0.5)
    legs = {"lexical": leg(a=9.0, b=6.0), "dense": weak}
    weights = {"lexical": 0.4, "dense": 0.6}
    assert ids(fuse(legs, Profile(weights=weights))) == ["x", "a", "b"]
    assert weak.reaching(0.55) == LegHits()
    floored = {**legs, "dense": weak.reaching(0.55)}
    assert ids(fuse(floored, Profile(weights=weights))) == ["a", "b"]


def test_f10_bounds_do_so_too_where_the_hits_should_stay() -> None:
    """Within 0.5 to 1 its 0.503 is a share of 0.006."""
    legs = {"lexical": leg(a=9.0, b=6.0), "dense": leg(x=0.503, a=0.5, b=0.5)}
    fusion = fuse(legs, Profile(weights={"lexical": 0.4, "dense": 0.6}, bounds={"dense": (0.5, 1.0)}))
    assert dict(zip(ids(fusion), fusion.scores.tolist(), strict=True)) == pytest.approx(
        {"a": 0.4, "x": 0.0036, "b": 0.0}
    )


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
def test_f14_negative_scores_and_none(normalization: str, combination: str) -> None:
    """A leg's hits keep its order, and none of them is behind what it didn't bring."""
    legs = {"l": leg(a=-1.0, b=-2.0, c=-4.0, n=None), "d": leg(z=-9.0)}
    fusion = fused(normalization, combination, {"l": 1.0, "d": 0.0}, **legs)
    assert np.isfinite(fusion.scores).all()
    scores = dict(zip(ids(fusion), fusion.scores.tolist(), strict=True))
    assert set(scores) == set("abcz")
    assert scores["a"] >= scores["b"] >= scores["c"] >= scores["z"]


def test_f14_negative_scores_as_they_are_by_hand() -> None:
    """z isn't in the first leg, so it gets that leg's lowest, -4, not 0, which would put it first."""
    legs = {"l": leg(a=-1.0, b=-2.0, c=-4.0), "d": leg(z=0.5)}
    fusion = fused("none", "weighted_sum", {"l": 1.0, "d": 1.0}, **legs)
    found = dict(zip(ids(fusion), fusion.scores.tolist(), strict=True))
    assert found == {"a": -1.0, "b": -2.0, "z": -3.5, "c": -4.0}


def test_f14_no_finite_scores() -> None:
    assert leg(a=None, b=float("nan"), c=float("inf"), d=float("-inf")) == LegHits()


@pytest.mark.parametrize(("normalization", "combination"), PAIRS)
def test_f14_empty_legs(normalization: str, combination: str) -> None:
    weights = {"l": 1.0, "d": 1.0}
    assert ids(fused(normalization, combination, weights, l=LegHits(), d=LegHits())) == []
    one = fused(normalization, combination, weights, l=leg(a=2.0, b=1.0), d=LegHits())
    assert ids(one) == ["a", "b"]
    assert np.isfinite(one.scores).all()
