"""Rules: when they hold, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.features import Features
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import Rule, first_rule


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"words": (3, None)}, True),
        ({"words": (None, 3)}, True),
        ({"words": (4, None)}, False),
        ({"words": [3, 3]}, True),
        ({"segment": ["HEAD", "TORSO"]}, True),
        ({"segment": "TAIL"}, False),
        ({"words": (1, 5), "segment": ("TAIL",)}, False),
        ({"lexical_entropy": (0.5, 1)}, True),
        ({"dense_entropy": (0, 1)}, False),  # not known
    ],
)
def test_when_a_rule_holds(when: dict[str, Any], holds: bool) -> None:
    features = Features(words=3, segment="HEAD", lexical_entropy=0.7)
    assert Rule(when, {"lexical": 1}).holds(features) is holds


def test_the_first_rule_that_holds() -> None:
    rules = [
        Rule({"words": (9, None)}, {"dense": 1}),
        Rule({"words": (2, None)}, {"dense": 2}),
        Rule({"words": (1, None)}, {"dense": 3}, name="short"),
    ]
    assert first_rule(rules, Features(words=3)) == ("2", {"dense": 2.0})
    assert first_rule(rules, Features(words=1)) == ("short", {"dense": 3.0})
    assert first_rule(rules, Features(words=0)) is None


def test_round_trip_as_a_part_of_a_profile() -> None:
    profile = Profile.from_dict(
        {
            "rules": [
                {"when": {"words": [None, 2], "segment": ["TAIL"]}, "weights": {"clicks": 0}},
                {
                    "when": {"dense_entropy": [0.5, None]},
                    "weights": {"dense": 1, "lexical": 2},
                    "name": "flat",
                },
            ]
        }
    )
    assert profile.rules[0].when == {"words": (None, 2), "segment": ("TAIL",)}
    assert profile.rules[0].weights == {"clicks": 0.0}
    assert Profile.from_dict(json.loads(json.dumps(profile.as_dict()))) == profile


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"when": {"length": [1, 2]}, "weights": {"dense": 1}}, "has no 'length': it has words, segment"),
        ({"when": {}, "weights": {"dense": 1}}, "a rule's when is empty: name one of words"),
        ({"when": {"words": [1, 2]}, "weights": {}}, "a rule's weights are empty"),
        ({"when": {"words": [1, 2]}}, "a rule lacks 'weights'"),
        ({"weights": {"dense": 1}}, "a rule lacks 'when'"),
        ({"when": {"words": [2, 1]}, "weights": {"dense": 1}}, "the lowest is above the highest"),
        ({"when": {"words": [None, None]}, "weights": {"dense": 1}}, "null for no bound"),
        ({"when": {"words": [1]}, "weights": {"dense": 1}}, r"give \[lowest, highest\]"),
        ({"when": {"words": "ab"}, "weights": {"dense": 1}}, r"give \[lowest, highest\]"),
        ({"when": {"words": 3}, "weights": {"dense": 1}}, r"a rule's words is 3"),
        ({"when": {"words": [True, 3]}, "weights": {"dense": 1}}, r"give \[lowest, highest\]"),
        ({"when": {"words": [1, float("nan")]}, "weights": {"dense": 1}}, r"nan\]: give"),
        ({"when": {"segment": ["LONG"]}, "weights": {"dense": 1}}, "give a list of HEAD, TORSO, TAIL"),
        ({"when": {"segment": []}, "weights": {"dense": 1}}, "give a list of HEAD, TORSO, TAIL"),
        ({"when": {"segment": [[]]}, "weights": {"dense": 1}}, "give a list of HEAD, TORSO, TAIL"),
        ({"when": {"segment": None}, "weights": {"dense": 1}}, "a rule's segment is None"),
        ({"when": [], "weights": {"dense": 1}}, "a rule's when is a list: give a JSON object"),
        ({"when": {"words": [1, 2]}, "weights": {"bm25": 1}}, "no leg 'bm25'"),
        ({"when": {"words": [1, 2]}, "weights": {"dense": -1}}, "a rule's weight of dense is -1"),
        ({"when": {"words": [1, 2]}, "weights": {"dense": 1}, "name": 5}, "a rule's name is 5"),
        ({"when": {"words": [1, 2]}, "weights": {"dense": 1}, "then": 5}, "a rule has no 'then'"),
        ("short", "a rule is a str: give a JSON object"),
    ],
)
def test_what_is_no_rule(rule: Any, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        Profile.from_dict({"rules": [rule]})


WORDS = {"words": [1, 2]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"weights": {"lexical": 1}, "rules": [{"when": WORDS, "weights": {"dense": 0.5}}]},
            "rule 1 gives dense the weight 0.5, but the profile leaves that leg out",
        ),
        (
            {
                "weights": {"lexical": 1},
                "rules": [{"when": WORDS, "weights": {"lexical": 0}, "name": "none"}],
            },
            "rule none leaves no leg a weight above 0",
        ),
        (
            {
                "clicks": {"segment_weights": {"HEAD": 1, "TORSO": 1, "TAIL": 0}},
                "rules": [{"when": WORDS, "weights": {"clicks": 1}}],
            },
            "rule 1 weighs clicks, and so does clicks.segment_weights: use the one or the other",
        ),
        ({"rules": 5}, "rules is 5: give a list of rules"),
        ({"rules": "short"}, "rules is 'short': give a list of rules"),
        ({"rules": {"when": WORDS}}, "give a list of rules"),
    ],
)
def test_rules_that_a_profile_cant_have(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        Profile.from_dict(settings)
