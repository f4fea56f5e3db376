from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles import Profile


def test_defaults_give_lexical_and_dense_the_same_weight() -> None:
    profile = Profile()
    assert profile.weights["lexical"] == profile.weights["dense"] > profile.weights["clicks"] > 0
    assert (profile.normalization, profile.combination, profile.depth) == ("min_max", "weighted_sum", 100)
    assert profile.neighbours == 100


def test_a_leg_that_is_not_named_has_no_weight() -> None:
    assert Profile(weights={"dense": 1}).weights == {"lexical": 0.0, "dense": 1.0, "clicks": 0.0}


def test_round_trip() -> None:
    profile = Profile(name="p", weights={"lexical": 2}, combination="rrf", depth=7, k=9, rank_constant=1)
    assert Profile.from_dict(profile.as_dict()) == profile


def test_k_beside_depth() -> None:
    assert Profile(depth=10, k=50).neighbours == 50


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"weights": {"bm25": 1}}, "'bm25'"),
        ({"weights": {"lexical": -0.1}}, "-0.1"),
        ({"weights": {"lexical": float("nan")}}, "nan"),
        ({"weights": {"lexical": "1"}}, "'1'"),
        ({"weights": {}}, "no leg has a weight"),
        ({"weights": {"lexical": 0}}, "no leg has a weight"),
        ({"weights": [1, 2]}, r"\[1, 2\]"),
        ({"weights": None}, "weights is None"),
        ({"weights": {"lexical": 1e308, "dense": 1e308}}, "add up to no finite number"),
        ({"weights": {"lexical": 10**400}}, "finite number"),
        ({"combination": []}, r"\[\]"),
        ({"normalization": "softmax"}, "'softmax': it is one of min_max"),
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
