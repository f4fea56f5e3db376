"""What a search is fused with: the profile's weights, the segment's, a rule's."""

from __future__ import annotations

from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import Rule
from trifuse.ranker.profiles.weights import Weighed, weighed
from trifuse.ranker.types import Key

HITS = {
    "lexical": LegHits((Key("a", "i"), Key("b", "i")), (2.0, 2.0)),
    "dense": LegHits((Key("b", "i"), Key("c", "i")), (0.9, 0.1)),
    "clicks": LegHits((Key("c", "i"),), (0.5,)),
}
WEIGHTS = {"lexical": 0.4, "dense": 0.6, "clicks": 2.0}
SHORT = Rule({"words": (None, 2)}, {"lexical": 0.0, "clicks": 3.0}, name="short")
FLAT = Rule({"lexical_entropy": (0.9, None), "dense_entropy": (None, 0.1)}, {"dense": 0.9})


def test_without_rules_the_profiles_own() -> None:
    assert weighed(Profile(weights=WEIGHTS), "stroke", None, HITS) == Weighed(WEIGHTS, HITS)


def test_the_segment_weighs_clicks() -> None:
    clicks = ClickSettings(segment_weights={"HEAD": 1.0, "TORSO": 0.5, "TAIL": 0.0})
    profile = Profile(weights=WEIGHTS, clicks=clicks)
    assert weighed(profile, "stroke", "HEAD", HITS).weights == {**WEIGHTS, "clicks": 1.0}
    tail = weighed(profile, "stroke", "TAIL", HITS)
    assert tail.weights == {**WEIGHTS, "clicks": 0.0}
    assert tail.hits == {leg: HITS[leg] for leg in ("lexical", "dense")}


def test_a_rule_replaces_the_weights_that_it_names_and_a_leg_of_weight_0_brings_nothing() -> None:
    profile = Profile(weights=WEIGHTS, rules=(SHORT, FLAT))
    found = weighed(profile, "heart failure", None, HITS)
    assert found.weights == {"lexical": 0.0, "dense": 0.6, "clicks": 3.0}
    assert found.rule == "short"
    assert found.hits == {leg: HITS[leg] for leg in ("dense", "clicks")}


def test_a_rule_by_what_the_legs_brought() -> None:
    """Two equal scores have an entropy of 1, two others of less than 0.001."""
    profile = Profile(weights=WEIGHTS, rules=(SHORT, FLAT))
    found = weighed(profile, "acute heart failure", None, HITS)
    assert (found.rule, found.weights) == ("2", {**WEIGHTS, "dense": 0.9})
    assert found.features is not None
    assert (found.features.words, found.features.lexical_entropy) == (3, 1.0)
    none = weighed(profile, "acute heart failure", None, {**HITS, "dense": LegHits()})
    assert (none.rule, none.weights) == (None, WEIGHTS)
