"""Weights that depend on the query: the first rule whose conditions all hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profiles.checks import by_leg, check_weight, known
from trifuse.ranker.profiles.features import FEATURES, Features
from trifuse.ranker.values import is_number

Range = tuple[float | None, float | None]
"""The lowest and the highest value, both included; None: no bound."""


@dataclass(frozen=True)
class Rule:
    """Weights for the queries that it is for.

    Args:
        when: feature to condition, which all must hold: a range (lowest, highest), both included, None for no
            bound; of `segment` the segments. A feature that isn't known holds to no condition.
        weights: leg to weight, in the place of the profile's; other legs keep theirs.
        name: shown in the response; empty: its number, from 1.
    """

    when: Mapping[str, Range | tuple[str, ...]]
    weights: Mapping[str, float]
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ProfileError(f"a rule's name is {self.name!r}: give a text")
        conditions = known(self.when, FEATURES, "a rule's when")
        if not conditions:
            raise ProfileError(f"a rule's when is empty: name one of {', '.join(FEATURES)}")
        checked = {
            name: _segments(each) if name == "segment" else _range(name, each)
            for name, each in conditions.items()
        }
        weights = by_leg("a rule's weights", self.weights, '{"lexical": 0.5}')
        if not weights:
            raise ProfileError("a rule's weights are empty: name a leg")
        for leg, weight in weights.items():
            check_weight(f"a rule's weight of {leg}", weight)
        object.__setattr__(self, "when", checked)
        object.__setattr__(self, "weights", {leg: float(weight) for leg, weight in weights.items()})

    def holds(self, features: Features) -> bool:
        """Whether all conditions hold."""
        return all(_within(getattr(features, name), each) for name, each in self.when.items())


def read_rules(value: Any) -> tuple[Rule, ...]:
    """Rules from JSON, or as they are.

    Raises:
        ProfileError: no list, a key that no rule has, or a value out of range.
    """
    if not isinstance(value, list | tuple):
        raise ProfileError(f"rules is {value!r}: give a list of rules")
    return tuple(each if isinstance(each, Rule) else _rule(each) for each in value)


def _rule(value: Any) -> Rule:
    given = known(value, [each.name for each in fields(Rule)], "a rule")
    if lacking := [name for name in ("when", "weights") if name not in given]:
        raise ProfileError(f'a rule lacks {lacking[0]!r}: give {{"when": {{…}}, "weights": {{…}}}}')
    return Rule(**given)


def first_rule(rules: Sequence[Rule], features: Features) -> tuple[str, Mapping[str, float]] | None:
    """The name, or the number, and the weights of the first rule that holds; None where none does."""
    for number, rule in enumerate(rules, start=1):
        if rule.holds(features):
            return rule.name or str(number), rule.weights
    return None


def check_rules(rules: Sequence[Rule], weights: Mapping[str, float], by_segment: bool) -> None:
    """Whether a profile of these weights can have these rules.

    Args:
        weights: leg to weight, of every leg.
        by_segment: whether segments of the click log already say the weight of clicks.

    Raises:
        ProfileError: a rule weighs a leg that isn't run, leaves no leg a weight, or weighs clicks twice.
    """
    for number, rule in enumerate(rules, start=1):
        name = f"rule {rule.name or number}"
        for leg, weight in rule.weights.items():
            if weight > 0 and weights[leg] == 0:
                raise ProfileError(
                    f"{name} gives {leg} the weight {weight:g}, but the profile leaves that leg out: "
                    "give it a weight above 0 in weights"
                )
        if not any({**weights, **rule.weights}.values()):
            raise ProfileError(f"{name} leaves no leg a weight above 0")
        if by_segment and "clicks" in rule.weights:
            raise ProfileError(
                f"{name} weighs clicks, and so does clicks.segment_weights: use the one or the other"
            )


def _within(value: Any, condition: Any) -> bool:
    if value is None:
        return False
    if isinstance(value, str):
        return value in condition
    low, high = condition
    return (low is None or low <= value) and (high is None or value <= high)


def _segments(value: Any) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names or any(name not in SEGMENTS for name in names):
        raise ProfileError(f"a rule's segment is {value!r}: give a list of {', '.join(SEGMENTS)}")
    return tuple(names)


def _range(name: str, value: Any) -> Range:
    if (
        isinstance(value, str)
        or not isinstance(value, Sequence)
        or len(value) != 2
        or not all(bound is None or is_number(bound) for bound in value)
        or value[0] is value[1] is None
    ):
        raise ProfileError(f"a rule's {name} is {value!r}: give [lowest, highest], null for no bound")
    low, high = value
    if low is not None and high is not None and low > high:
        raise ProfileError(f"a rule's {name} is {value!r}: the lowest is above the highest")
    return low, high
