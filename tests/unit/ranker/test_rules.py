"""Rules: what they go by, when they hold, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles import Profile
from trifuse.ranker.rules import Features, Rule, entropy, first_rule


def test_entropy_of_two_hits_by_hand() -> None:
    """Scaled to 1 and 0, at a temperature of 0.1: shares 1 / (1 + e⁻¹⁰) and the rest, over ln 2."""
    share = 1 / (1 + math.exp(-10))
    expected = -(share * math.log(share) + (1 - share) * math.log(1 - share)) / math.log(2)
    assert entropy([30.0, 10.0]) == pytest.approx(expected, rel=1e-12)
    assert expected < 0.001


def test_entropy_of_three_hits_by_hand() -> None:
    powers = [1.0, math.exp(-5), math.exp(-10)]
    shares = [power / sum(powers) for power in powers]
    expected = -sum(share * math.log(share) for share in shares) / math.log(3)
    assert entropy([3.0, 2.0, 1.0]) == pytest.approx(expected, rel=1e-12)


def test_entropy_knows_no_scale() -> None:
    scores = [9.0, 4.0, 2.5, 1.0]
    assert entropy([1000 + 7 * score for score in scores]) == pytest.approx(entropy(scores), rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "expected"), [([], None), ([3.0], 0.0), ([2.0, 2.0, 2.0], 1.0), ([0.0] * 500, 1.0)]
)
def test_entropy_of_hits_that_say_nothing_or_one_thing(scores: list[float], expected: float | None) -> None:
    assert entropy(scores) == expected


def test_entropy_is_of_the_first_hundred() -> None:
    scores = [1.0 - place / 1000 for place in range(300)]
    assert entropy(scores) == entropy(scores[:100]) != entropy(scores[:99])


@pytest.mark.parametrize("scores", [[1e308, -1e308, 0.0], [1e-320, 0.0], [5e-324, 0.0, 0.0]])
def test_entropy_of_the_largest_and_smallest_numbers(scores: list[float]) -> None:
    found = entropy(scores)
    assert found is not None
    assert 0 <= found <= 1


def test_features_of_a_search() -> None:
    found = Features.of("  stroke in\tadults ", "HEAD", {"lexical": [2.0, 2.0], "clicks": [1.0]})
    assert found == Features(words=3, segment="HEAD", lexical_entropy=1.0, dense_entropy=None)


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
