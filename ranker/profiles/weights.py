"""The weights that a search is fused with: the profile's, by the query's segment, and by rules. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trifuse.ranker.fusion import LegHits
from trifuse.ranker.profiles.features import Features
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.profiles.rules import first_rule


@dataclass(frozen=True)
class Weighed:
    """What a search is fused with.

    Args:
        weights: leg to weight.
        hits: leg to its documents, of legs whose weight isn't 0: one of weight 0 brings nothing.
        rule: the name, or the number, of the profile's rule that holds; None: none does.
        features: what its rules go by; None: it has no rules.
    """

    weights: Mapping[str, float]
    hits: Mapping[str, LegHits]
    rule: str | None = None
    features: Features | None = None


def weighed(profile: Profile, text: str, segment: str | None, hits: Mapping[str, LegHits]) -> Weighed:
    """The weights of a search, and what is left to fuse.

    Args:
        text: what the user typed.
        segment: of the query in the click log; None: not known.
        hits: what the legs brought.
    """
    weights, rule, features = profile.weights_in(segment), None, None
    if profile.rules:
        features = Features.of(text, segment, {leg: each.scores for leg, each in hits.items()})
        if found := first_rule(profile.rules, features):
            rule, weights = found[0], {**weights, **found[1]}
    brought = {leg: each for leg, each in hits.items() if weights[leg] > 0}
    return Weighed(weights, brought, rule, features)
