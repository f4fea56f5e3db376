from __future__ import annotations

import json
from typing import Any

import pytest

from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.profile import Profile


def test_defaults_give_lexical_and_dense_the_same_weight() -> None:
    profile = Profile()
    assert profile.weights == {"lexical": 0.5, "dense": 0.5, "clicks": 5.0}
    assert profile.normalization == {"lexical": "min_max", "dense": "min_max", "clicks": "none"}
    assert (profile.combination, profile.depth) == ("weighted_sum", 100)
    assert profile.neighbours == 100


@pytest.mark.parametrize(
    ("settings", "clicks"),
    [
        ({}, 5.0),
        ({"weights": {}}, 5.0),
        ({"normalization": {"dense": "softmax"}}, 5.0),
        ({"combination": "rrf"}, 0.25),
        ({"combination": "dbsf"}, 0.25),
        ({"combination": "geometric_mean"}, 0.25),
        ({"normalization": "z_score"}, 0.25),
        ({"normalization": "min_max"}, 0.25),
        ({"normalization": {"clicks": "min_max"}}, 0.25),
        ({"weights": {"clicks": 1}, "normalization": "min_max"}, 1.0),
    ],
)
def test_the_weight_of_clicks_goes_by_what_their_scores_are(settings: dict[str, Any], clicks: float) -> None:
    """As a probability the best is small, as a rank or scaled it is 1: at 5 nothing else would count."""
    assert Profile.from_dict(settings).weights["clicks"] == clicks


def test_a_leg_that_is_not_named_has_no_weight() -> None:
    assert Profile(weights={"dense": 1}).weights == {"lexical": 0.0, "dense": 1.0, "clicks": 0.0}


def test_round_trip() -> None:
    profile = Profile(name="p", weights={"lexical": 2}, combination="rrf", depth=7, k=9, rank_constant=1)
    assert Profile.from_dict(profile.as_dict()) == profile


def test_round_trip_of_all_that_is_nested() -> None:
    profile = Profile(
        normalization={"dense": "softmax", "clicks": "none"},
        softmax_temperature={"dense": 0.1},
        clicks=ClickSettings(m=1000, segment_weights={"HEAD": 0.5, "TORSO": 0.5, "TAIL": 0.2}),
    )
    again = Profile.from_dict(json.loads(json.dumps(profile.as_dict())))
    assert again == profile
    assert again.normalization == {"lexical": "min_max", "dense": "softmax", "clicks": "none"}
    assert again.softmax_temperature == {"lexical": None, "dense": 0.1, "clicks": None}
    assert again.clicks.segment_weights == {"HEAD": 0.5, "TORSO": 0.5, "TAIL": 0.2}


@pytest.mark.parametrize("value", [[], "lader", None, 5])
def test_a_profile_is_an_object(value: Any) -> None:
    with pytest.raises(ProfileError, match="give a JSON object"):
        Profile.from_dict(value)


def test_the_temperature_goes_by_the_space_unless_it_is_given() -> None:
    profile = Profile(softmax_temperature={"lexical": 3.0})
    assert [profile.temperature_of("dense", each) for each in ("cosine", "dot", None)] == [0.05, 1.0, 1.0]
    assert profile.temperature_of("lexical", "cosine") == 3.0
    assert Profile(softmax_temperature={"dense": 0.2}).temperature_of("dense", "cosine") == 0.2


def test_the_weight_of_clicks_by_segment() -> None:
    clicks = ClickSettings(segment_weights={"HEAD": 0.5, "TORSO": 0.4, "TAIL": 0.0})
    profile = Profile(weights={"dense": 1, "clicks": 0.3}, clicks=clicks)
    found = {segment: profile.weights_in(segment)["clicks"] for segment in ("HEAD", "TORSO", "TAIL", None)}
    assert found == {"HEAD": 0.5, "TORSO": 0.4, "TAIL": 0.0, None: 0.3}
    assert profile.weights_in("HEAD")["dense"] == 1.0
    off = Profile(weights={"dense": 1}, clicks=clicks)
    assert off.weights_in("HEAD")["clicks"] == 0.0


def test_k_beside_depth() -> None:
    assert Profile(depth=10, k=50).neighbours == 50


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"weights": {"bm25": 1}}, "'bm25'"),
        ({"weights": {"lexical": -0.1}}, "-0.1"),
        ({"weights": {"lexical": float("nan")}}, "nan"),
        ({"weights": {"lexical": "1"}}, "'1'"),
        ({"weights": {"lexical": 0}}, "no leg has a weight"),
        ({"weights": [1, 2]}, r"\[1, 2\]"),
        ({"weights": None}, "weights is None"),
        ({"weights": {"lexical": 1e7}}, "from 0 to 1e"),
        ({"weights": {"lexical": 10**400}}, "finite number"),
        ({"weights": {"lexical": True}}, "True"),
        ({"combination": []}, r"\[\]"),
        ({"normalization": "sigmoid"}, "'sigmoid': it is one of min_max, l2, z_score, softmax, none"),
        ({"normalization": {"dense": "sigmoid"}}, "normalization of dense is 'sigmoid'"),
        ({"normalization": {"bm25": "none"}}, "no leg 'bm25'"),
        ({"normalization": 5}, "normalization is 5"),
        ({"softmax_temperature": {"dense": 0}}, "softmax_temperature of dense is 0"),
        ({"softmax_temperature": {"dense": float("nan")}}, "nan: give a number above 0"),
        ({"softmax_temperature": {"dense": float("inf")}}, "inf: give a number above 0"),
        ({"softmax_temperature": {"bm25": 1}}, "no leg 'bm25'"),
        ({"softmax_temperature": 0.05}, "softmax_temperature is 0.05"),
        ({"depths": 50}, "depths is 50"),
        ({"depths": {"dense": 0}}, "the depth of dense is 0"),
        ({"depths": {"clicks": 50}}, "is clicks.candidates"),
        ({"floors": 0.5}, "floors is 0.5"),
        ({"floors": {"bm25": 1}}, "no leg 'bm25'"),
        ({"floors": {"dense": None}}, "the floor of dense is None"),
        ({"floors": {"dense": float("nan")}}, "the floor of dense is nan"),
        ({"bounds": [0, 1]}, r"bounds is \[0, 1\]"),
        ({"bounds": {"bm25": [0, 1]}}, "no leg 'bm25'"),
        ({"bounds": {"dense": 1}}, r"the bounds of dense are 1: give \[lowest, highest\]"),
        ({"bounds": {"dense": [0]}}, r"the bounds of dense are \[0\]"),
        ({"bounds": {"dense": [0, float("inf")]}}, r"the bounds of dense are \[0, inf\]"),
        ({"bounds": {"dense": [1, 1]}}, "the lowest has to be below the highest"),
        ({"clicks": {"mm": 3}}, "a profile's clicks has no 'mm': it has m, "),
        ({"clicks": {"m": -1}}, "clicks.m is -1"),
        ({"clicks": {"temperature": float("nan")}}, "clicks.temperature is nan"),
        ({"clicks": 3}, "clicks is 3"),
        ({"clicks": {"segment_weights": {"HEAD": 1e9, "TORSO": 1, "TAIL": 1}}}, r"\[HEAD\] is 1000000000.0"),
        ({"name": 5}, "name is 5"),
        ({"vector_field": ""}, "vector_field is ''"),
        ({"combination": "sum"}, "'sum'"),
        ({"depth": 0}, "depth is 0"),
        ({"depth": 10_001}, "depth is 10001"),
        ({"depth": 1.5}, "1.5"),
        ({"k": 0}, "k is 0"),
        ({"rank_constant": 0}, "rank_constant is 0"),
        ({"rank_constant": -1}, "rank_constant is -1"),
        ({"click_budget_s": 0}, "click_budget_s is 0"),
        ({"lambda": 1}, "'lambda'"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ProfileError, match=named):
        Profile.from_dict(settings)


def test_weights_from_a_command_line() -> None:
    profile = Profile.parse("lexical=0.5, dense=0.4,clicks=0.1")
    assert profile.weights == {"lexical": 0.5, "dense": 0.4, "clicks": 0.1}


@pytest.mark.parametrize("text", ["lexical", "lexical=a", "lexical=1=2", ""])
def test_unreadable_weights(text: str) -> None:
    with pytest.raises(ProfileError, match="can't read weights"):
        Profile.parse(text)


def test_the_teams_own_body() -> None:
    body = {"query": {"match": {"title": "{{text}}"}}, "size": 5}
    profile = Profile.from_dict({"body": body})
    assert profile.body == body
    assert Profile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"body": {"query": {"match": {"title": "a {{text}}"}}}}, "body can't be used: 'a {{text}}'"),
        ({"body": {"sort": ["year"]}}, "body can't be used: sort"),
        ({"body": {"size": 5, "nope": 1}}, "body can't be used: the body's 'nope'"),
        ({"body": []}, "body can't be used: the body is a list"),
        ({"body": "x"}, "body can't be used: the body is a str"),
        ({"execution": "server"}, "execution is 'server': it is one of client, native"),
        ({"execution": None}, "execution is None"),
    ],
)
def test_a_body_or_an_execution_that_cant_be_used(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ProfileError, match=named):
        Profile.from_dict(settings)


@pytest.mark.parametrize("weight", [1e-13, 5e-324])
def test_a_weight_by_which_scores_would_vanish_is_refused(weight: float) -> None:
    """The harmonic mean would divide by 0, and others take different scores for equal."""
    with pytest.raises(ProfileError, match=r"the weight of dense is .*: give 0, or 1e-12 or more"):
        Profile(weights={"dense": weight})
    assert Profile(weights={"dense": 1e-12}).weights["dense"] == 1e-12


@pytest.mark.parametrize(
    ("settings", "lexical", "dense", "neighbours"),
    [
        ({}, 100, 100, 100),
        ({"depth": 40}, 40, 40, 40),
        ({"depths": {"lexical": 20, "dense": 30}}, 20, 30, 30),
        ({"depths": {"dense": 500}}, 100, 100, 100),  # a leg isn't deeper than the ranking
        ({"depths": {"dense": 30}, "k": 200}, 100, 30, 200),
        ({"k": 25}, 100, 25, 25),
    ],
)
def test_each_leg_has_a_depth(settings: dict[str, Any], lexical: int, dense: int, neighbours: int) -> None:
    profile = Profile(**settings)
    assert (profile.depth_of("lexical"), profile.depth_of("dense")) == (lexical, dense)
    assert profile.neighbours == neighbours
    assert profile.depth_of("clicks") == profile.clicks.candidates
    assert Profile.from_dict(profile.as_dict()) == profile
