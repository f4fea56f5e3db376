from __future__ import annotations

import json

import pytest

from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.published import published


def test_each_stands_under_its_name() -> None:
    profiles = published()
    assert list(profiles) == [
        "default",
        "lader",
        "lader-bm25",
        "lader-hybrid",
        "lader-no-log",
        "lader-no-dense",
    ]
    assert all(profile.name == name for name, profile in profiles.items())
    assert profiles["default"] == Profile()


def test_laders_score_as_it_was_published() -> None:
    """Section 3.1: m = n = 1000, λ 0.5 for HEAD and TORSO queries, 0.2 for TAIL ones."""
    lader = published()["lader"]
    assert lader.weights_in("HEAD") == {"lexical": 0.0, "dense": 1.0, "clicks": 0.5}
    assert (lader.weights_in("TORSO")["clicks"], lader.weights_in("TAIL")["clicks"]) == (0.5, 0.2)
    assert (lader.depth, lader.neighbours, lader.clicks.m) == (1000, 1000, 1000)
    assert (lader.normalization_of("dense"), lader.normalization_of("clicks")) == ("softmax", "none")
    assert lader.combination == "weighted_sum"
    assert lader.clicks.weighting == "relevant"
    assert lader.clicks.candidates == 10_000
    assert lader.clicks.min_similarity is None
    assert lader.clicks.doubt_for("cosine") < -1e6
    assert lader.clicks.support == 0
    assert (lader.temperature_of("dense", "dot"), lader.clicks.temperature) == (1.0, None)
    assert lader.temperature_of("dense", "cosine") == 0.05


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("lader-bm25", (1.0, 0.0, 0.5)),
        ("lader-hybrid", (0.5, 0.5, 0.5)),
        ("lader-no-log", (0.0, 1.0, 0.0)),
        ("lader-no-dense", (0.0, 0.0, 0.5)),
    ],
)
def test_variants_differ_in_their_weights(name: str, weights: tuple[float, ...]) -> None:
    profile = published()[name]
    assert tuple(profile.weights_in("HEAD").values()) == weights
    assert profile.clicks == published()["lader"].clicks


@pytest.mark.parametrize("name", published())
def test_each_survives_a_file(name: str) -> None:
    profile = published()[name]
    assert Profile.from_dict(json.loads(json.dumps(profile.as_dict(), allow_nan=False))) == profile
