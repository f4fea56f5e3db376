"""How versions of a profile are named, and how two profiles differ."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.profiles.versions import Reference, changes


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("mine", Reference("mine")),
        ("Mine_2-b", Reference("Mine_2-b")),
        ("mine@12", Reference("mine", 12)),
        ("7", Reference("7")),
        ("mine@0", None),
        ("mine@01", None),
        ("mine@", None),
        ("mine@1@2", None),
        ("mine@9999999999", None),  # no version that an index of integers can hold
        ("@1", None),
        ("-mine", None),
        ("mine.json", None),
        ("lexical=1", None),
        ("mine\n", None),
        ("mine@1\n", None),
        ("mine@١", None),  # a digit, but not one of ours
        ("", None),
    ],
)
def test_what_stands_for_a_stored_profile(text: str, reference: Reference | None) -> None:
    assert Reference.parse(text) == reference
    assert reference is None or str(reference) == text


def test_profiles_that_are_the_same_but_for_the_name() -> None:
    assert changes(Profile(), Profile(name="mine")) == {}


def test_changes_are_named_by_their_path() -> None:
    before = Profile(depth=50, clicks=ClickSettings(m=10))
    after = replace(before, depth=100, weights={"lexical": 0.5, "dense": 0.7}, clicks=ClickSettings(m=20))
    assert changes(before, after) == {
        "weights.dense": (0.5, 0.7),
        "weights.clicks": (5.0, 0.0),
        "depth": (50, 100),
        "clicks.m": (10, 20),
    }
    assert list(changes(before, after)) == ["weights.dense", "weights.clicks", "depth", "clicks.m"]


def test_what_only_one_of_them_has() -> None:
    body = {"query": {"match": {"title": "{{text}}"}}}
    rule = Rule({"words": (1, 2)}, {"lexical": 1})
    found = changes(Profile(), Profile(body=body, rules=(rule,)))
    assert found.pop("rules") == ((), ({"when": {"words": (1, 2)}, "weights": {"lexical": 1.0}, "name": ""},))
    assert found == {"body.query.match.title": (None, "{{text}}")}
    assert changes(Profile(body=body), Profile()) == {"body.query.match.title": ("{{text}}", None)}


def test_one_normalization_for_all_against_one_by_leg() -> None:
    found = changes(Profile(weights={"lexical": 1}), Profile(weights={"lexical": 1}, normalization="min_max"))
    assert found["normalization"] == (None, "min_max")
    assert found["normalization.clicks"] == ("none", None)
