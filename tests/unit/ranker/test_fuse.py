from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.fuse import fuse, opinion
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS, Candidate, LegHits
from trifuse.ranker.fusion.ranked import LegValue
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.types import LEGS, Key


def key(id: str) -> Key:
    return Key(id, "i")


def leg(**scores: float | None) -> LegHits:
    return LegHits.of((key(id), score) for id, score in scores.items())


def candidates(legs: dict[str, LegHits], profile: Profile) -> list[Candidate]:
    fusion = fuse(legs, profile)
    return [fusion.candidate(place) for place in range(len(fusion.keys))]


def ids(legs: dict[str, LegHits], profile: Profile) -> list[str]:
    return [key.id for key in fuse(legs, profile).keys]


EQUAL = Profile(weights={"lexical": 0.5, "dense": 0.5})

pairs = st.lists(
    st.tuples(st.sampled_from("abcdefghij"), st.one_of(st.none(), st.floats(width=32))), max_size=25
)
legs_of_pairs = st.fixed_dictionaries(dict.fromkeys(LEGS, pairs))
profiles = st.builds(
    Profile,
    weights=st.fixed_dictionaries({name: st.floats(0.01, 1) for name in LEGS}),
    normalization=st.sampled_from(sorted(NORMALIZATIONS)),
    softmax_temperature=st.fixed_dictionaries({name: st.floats(1e-300, 1e300) for name in LEGS}),
    combination=st.sampled_from(sorted(COMBINATIONS)),
)


def test_by_hand() -> None:
    """lexical: a 1, b 0.5, c 0; dense: c 1, d 0. Halved: a 0.5, b 0.25, c 0 + 0.5, d 0."""
    legs = {"lexical": leg(a=9.0, b=6.0, c=3.0), "dense": leg(c=0.9, d=0.8)}
    found = candidates(legs, EQUAL)
    assert [(each.key.id, each.score) for each in found] == [("a", 0.5), ("c", 0.5), ("b", 0.25), ("d", 0.0)]
    c = found[1]
    assert c.legs == {
        "lexical": LegValue(score=3.0, normalized=0.0, weight=0.5, rank=3),
        "dense": LegValue(score=0.9, normalized=1.0, weight=0.5, rank=1),
        "clicks": None,
    }


def test_laders_score_by_hand() -> None:
    """Cosines of 0.9, 0.9 - ln 3 · T and 0.9 - ln 6 · T weigh 6 : 2 : 1 at the temperature T.

    The engine's score is (1 + cosine) / 2. The click leg's scores are weighed as they are.
    """
    t = 0.05
    cosines = {"a": 0.9, "b": 0.9 - t * math.log(3), "c": 0.9 - t * math.log(6)}
    legs = {
        "dense": leg(**{id: (1 + cosine) / 2 for id, cosine in cosines.items()}),
        "clicks": leg(c=0.75, d=0.25),
    }
    profile = Profile(
        weights={"dense": 1, "clicks": 0.9},
        normalization={"dense": "softmax", "clicks": "none"},
        clicks=ClickSettings(segment_weights={"HEAD": 0.5, "TORSO": 0.5, "TAIL": 0.2}),
    )
    tail = fuse(legs, profile, weights=profile.weights_in("TAIL"), similarity="cosine")
    assert [each.id for each in tail.keys] == ["a", "c", "b", "d"]
    assert tail.scores == pytest.approx([6 / 9, 1 / 9 + 0.2 * 0.75, 2 / 9, 0.2 * 0.25], rel=1e-9)
    head = fuse(legs, profile, weights=profile.weights_in("HEAD"), similarity="cosine")
    assert head.scores == pytest.approx([6 / 9, 1 / 9 + 0.5 * 0.75, 2 / 9, 0.5 * 0.25], rel=1e-9)
    unknown = fuse(legs, profile, similarity="cosine")
    assert unknown.scores[0] == pytest.approx(1 / 9 + 0.9 * 0.75)
    c = head.candidate(1)
    assert c.legs["clicks"] == LegValue(score=0.75, normalized=0.75, weight=0.5, rank=1)
    assert c.legs["dense"] is not None
    assert c.legs["dense"].score == (1 + cosines["c"]) / 2
    assert c.legs["dense"].normalized == pytest.approx(1 / 9, rel=1e-9)


def test_softmax_sees_inner_products() -> None:
    """The engine scores an inner product of 2 as 3, and one of -1 as 1/2: their powers are e^3 : 1 at 1."""
    profile = Profile(weights={"dense": 1}, normalization="softmax")
    found = fuse({"dense": leg(a=3.0, b=0.5)}, profile, similarity="dot")
    assert found.scores == pytest.approx([math.e**3 / (math.e**3 + 1), 1 / (math.e**3 + 1)], rel=1e-12)
    raw = fuse({"dense": leg(a=3.0, b=0.5)}, replace(profile, normalization="none"), similarity="dot")
    assert raw.scores.tolist() == [2.0, -1.0]


def test_the_opinion_of_the_legs_by_hand() -> None:
    """lexical 1, 0.5, 0 weighs 3 of 4; dense 1, 0 weighs 1 of 4."""
    profile = Profile(weights={"lexical": 3, "dense": 1, "clicks": 9})
    legs = {"lexical": leg(a=9.0, b=6.0, c=3.0), "dense": leg(c=0.9, b=0.8)}
    assert opinion(legs, profile) == {"a": 0.75, "b": 0.375, "c": 0.25}
    assert opinion({"lexical": legs["lexical"], "dense": LegHits()}, profile) == {"a": 1, "b": 0.5, "c": 0}
    assert opinion({}, profile) == {}
    namesakes = LegHits.of([(Key("a", "i"), 2.0), (Key("a", "j"), 1.0)])
    assert opinion({"lexical": namesakes}, profile) == {"a": 1.0}
    raw = replace(profile, normalization="none")
    assert opinion({"lexical": leg(a=0.5, b=-0.25)}, raw) == {"a": 0.5, "b": 0.0}
    assert opinion({"lexical": leg(a=8.0, b=2.0)}, raw) == {"a": 1.0, "b": 0.25}


def test_f14_no_scores_negative_scores_and_empty_legs() -> None:
    assert leg(a=None, b=float("nan"), c=float("inf")) == LegHits()
    assert candidates({"lexical": LegHits(), "dense": LegHits(), "clicks": LegHits()}, EQUAL) == []
    assert candidates({}, EQUAL) == []
    assert ids({"lexical": leg(a=-2.0, b=-1.0, c=None), "dense": LegHits()}, EQUAL) == ["b", "a"]


@given(legs=legs_of_pairs, profile=profiles, size=st.integers(1, 6))
def test_f9_pages_add_up_to_the_whole(
    legs: dict[str, list[tuple[str, float | None]]], profile: Profile, size: int
) -> None:
    hits = {name: LegHits.of((key(id), score) for id, score in each) for name, each in legs.items()}
    whole = ids(hits, profile)
    pages = [ids(hits, profile)[start : start + size] for start in range(0, len(whole), size)]
    assert [id for page in pages for id in page] == whole
    assert len(set(whole)) == len(whole)


@given(data=st.data(), legs=legs_of_pairs, profile=profiles)
def test_the_order_of_hits_makes_no_difference(
    data: st.DataObject, legs: dict[str, list[tuple[str, float | None]]], profile: Profile
) -> None:
    hits = {name: LegHits.of((key(id), score) for id, score in each) for name, each in legs.items()}
    shuffled = {
        name: LegHits.of((key(id), score) for id, score in data.draw(st.permutations(each)))
        for name, each in legs.items()
    }
    assert candidates(shuffled, profile) == candidates(hits, profile)


@given(legs=legs_of_pairs, profile=profiles)
def test_better_everywhere_is_never_ranked_lower(
    legs: dict[str, list[tuple[str, float | None]]], profile: Profile
) -> None:
    hits = {name: LegHits.of((key(id), score) for id, score in each) for name, each in legs.items()}
    found = candidates(hits, profile)
    for above, below in itertools.pairwise(found):
        ranks = [(above.legs[name], below.legs[name]) for name in LEGS]
        beaten = all(b is not None and (a is None or b.score > a.score) for a, b in ranks)
        assert not beaten or above.score == below.score  # equal where no float tells them apart
