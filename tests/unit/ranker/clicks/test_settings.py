"""How a search reads the click log: what is refused, and what is meant where nothing is said."""

from __future__ import annotations

import math
from typing import Any

import pytest

from trifuse.ranker.clicks.settings import ClickSettings, segment_of
from trifuse.ranker.errors import ProfileError


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"m": -1}, "clicks.m is -1"),
        ({"m": 10_001}, "clicks.m"),
        ({"m": True}, "clicks.m"),
        ({"m": 1.0}, "clicks.m"),
        ({"candidates": 0}, "clicks.candidates is 0"),
        ({"candidates": True}, "clicks.candidates"),
        ({"temperature": 0}, "clicks.temperature is 0"),
        ({"temperature": math.nan}, "clicks.temperature"),
        ({"temperature": "0.1"}, "clicks.temperature"),
        ({"smoothing": 0}, "clicks.smoothing"),
        ({"smoothing": None}, "clicks.smoothing"),
        ({"support": -0.1}, "clicks.support"),
        ({"support": 101}, "clicks.support"),
        ({"support": None}, "clicks.support"),
        ({"min_similarity": math.nan}, "clicks.min_similarity"),
        ({"min_similarity": "0.7"}, "clicks.min_similarity"),
        ({"doubt": math.inf}, "clicks.doubt"),
        ({"doubt": 10**400}, "clicks.doubt"),
        ({"weighting": "bm25"}, "relevant, share, expected"),
        ({"weighting": ["share"]}, "clicks.weighting"),
        ({"log_share": 0}, "clicks.log_share"),
        ({"log_share": 1.1}, "clicks.log_share"),
        ({"segment_weights": [1, 2, 3]}, "clicks.segment_weights"),
        ({"segment_weights": {"HEAD": 1, "TORSO": 1}}, "HEAD, TORSO, TAIL"),
        ({"segment_weights": {"HEAD": 1, "TORSO": 1, "TAIL": -1}}, r"segment_weights\[TAIL\] is -1"),
    ],
)
def test_what_is_out_of_range_is_refused_by_name(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ProfileError, match=named):
        ClickSettings(**settings)


def test_defaults_by_the_kind_of_similarity() -> None:
    settings = ClickSettings()
    assert (settings.temperature_for("cosine"), settings.temperature_for("dot")) == (0.05, 1.0)
    assert (settings.doubt_for("cosine"), settings.doubt_for("dot")) == (0.8, -math.inf)
    said = ClickSettings(temperature=0.3, doubt=0.5)
    for kind in ("cosine", "dot"):
        assert said.temperature_for(kind) == 0.3  # type: ignore[arg-type]
        assert said.doubt_for(kind) == 0.5  # type: ignore[arg-type]


def test_segments_are_tripclicks() -> None:
    assert [segment_of(n) for n in (0, 5, 6, 44, 45, 1e9)] == [
        "TAIL",
        "TAIL",
        "TORSO",
        "TORSO",
        "HEAD",
        "HEAD",
    ]


def test_a_share_goes_by_the_head_of_the_id() -> None:
    half = ClickSettings(log_share=0.5)
    assert half.uses("7fffffff" + "f" * 16)
    assert not half.uses("80000000" + "0" * 16)
    assert ClickSettings().uses("f" * 24)
