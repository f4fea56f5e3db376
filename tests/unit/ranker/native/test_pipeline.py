from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker import Profile
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import ProfileError, ProfileNotNative
from trifuse.ranker.native.pipeline import fusing_pipeline, require_native, shares
from trifuse.ranker.profiles.rules import Rule

TWO: dict[str, Any] = {"weights": {"lexical": 3, "dense": 1}}
HALVES = {"lexical": 0.75, "dense": 0.25}


def phase(profile: Profile) -> dict[str, Any]:
    (processor,) = fusing_pipeline(profile, HALVES)["phase_results_processors"]
    return dict(processor)


def test_means() -> None:
    assert phase(Profile(**TWO)) == {
        "normalization-processor": {
            "normalization": {"technique": "min_max"},
            "combination": {"technique": "arithmetic_mean", "parameters": {"weights": [0.75, 0.25]}},
        }
    }
    found = phase(Profile(**TWO, normalization="l2", combination="harmonic_mean"))["normalization-processor"]
    assert found["normalization"] == {"technique": "l2"}
    assert found["combination"]["technique"] == "harmonic_mean"


def test_rrf() -> None:
    assert phase(Profile(**TWO, combination="rrf", rank_constant=20)) == {
        "score-ranker-processor": {
            "combination": {
                "technique": "rrf",
                "rank_constant": 20,
                "parameters": {"weights": [0.75, 0.25]},
            }
        }
    }


def test_bounds_go_with_min_max_alone_and_in_the_order_of_the_legs() -> None:
    bounds = {"dense": (0.5, None), "lexical": (None, 30)}
    found = phase(Profile(**TWO, bounds=bounds))["normalization-processor"]["normalization"]
    assert found == {
        "technique": "min_max",
        "parameters": {
            "lower_bounds": [{"mode": "ignore"}, {"mode": "apply", "min_score": 0.5}],
            "upper_bounds": [{"mode": "apply", "max_score": 30.0}, {"mode": "ignore"}],
        },
    }
    found = phase(Profile(**TWO, bounds=bounds, normalization="l2"))["normalization-processor"]
    assert found["normalization"] == {"technique": "l2"}


def test_processors_of_the_response_follow() -> None:
    renaming = {"rename_field": {"field": "a", "target_field": "b"}}
    pipeline = fusing_pipeline(Profile(**TWO), HALVES, responding=[renaming])
    assert pipeline["response_processors"] == [renaming]
    assert "response_processors" not in fusing_pipeline(Profile(**TWO), HALVES)


@pytest.mark.parametrize("weights", [{"a": 1e6, "b": 1e-6}, {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}, {"a": 7.0}])
def test_shares_sum_to_1(weights: dict[str, float]) -> None:
    found = shares(weights)
    assert sum(found.values()) == pytest.approx(1.0, abs=1e-12)
    assert found["a"] * weights[list(weights)[-1]] == pytest.approx(found[list(weights)[-1]] * weights["a"])


@pytest.mark.parametrize(
    "settings",
    [
        {"weights": {"lexical": 1}},
        {**TWO, "normalization": {"clicks": "none"}},
        {**TWO, "normalization": "z_score", "combination": "arithmetic_mean"},
        {**TWO, "normalization": {"lexical": "softmax"}, "combination": "rrf"},
        {"normalization": "min_max", "clicks": ClickSettings(support=0)},
        {"normalization": "l2", "clicks": ClickSettings(support=0), "combination": "geometric_mean"},
    ],
)
def test_profiles_that_run_natively(settings: dict[str, Any]) -> None:
    require_native(Profile(**settings))


@pytest.mark.parametrize(
    ("settings", "cause"),
    [
        ({**TWO, "normalization": "softmax"}, "no normalization 'softmax', which lexical has"),
        ({**TWO, "combination": "dbsf"}, "no combination 'dbsf'"),
        ({**TWO, "normalization": {"dense": "l2"}}, r"differ \(lexical min_max, dense l2\)"),
        (
            {**TWO, "normalization": "z_score", "combination": "geometric_mean"},
            "z_score by arithmetic_mean alone",
        ),
        ({**TWO, "floors": {"dense": 0.6}}, "dense has a floor"),
        ({**TWO, "depths": {"lexical": 50}}, "lexical has a depth of its own"),
        ({**TWO, "rules": (Rule(when={"words": (None, 2)}, weights={"dense": 0}),)}, "rules go by"),
        ({"normalization": "min_max"}, "support of 0, or a weight of 0"),
        ({"clicks": ClickSettings(support=0)}, "no normalization 'none', which clicks has"),
        ({}, "no normalization 'none'.*; clicks.support is 1.5"),
    ],
)
def test_the_cause_is_named(settings: dict[str, Any], cause: str) -> None:
    with pytest.raises(ProfileNotNative, match=f"'mine' can't run natively: .*{cause}.*execution 'client'"):
        require_native(Profile(name="mine", **settings))


def test_it_is_an_error_of_profiles() -> None:
    assert issubclass(ProfileNotNative, ProfileError)
