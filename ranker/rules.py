"""Weights that depend on the query: the first rule whose conditions all hold. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trifuse.encoder.templates import clean_text
from trifuse.ranker.click_settings import SEGMENTS
from trifuse.ranker.click_weights import softmax
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.profile_checks import by_leg, check_weight, is_number, known

ENTROPY_HITS = 100
"""So many of a leg's best hits the entropy is of: it says the same whatever a profile's depth, above this."""

ENTROPY_TEMPERATURE = 0.1
"""Of the softmax over their scores, scaled to [0, 1]: a hit 0.1 below the best weighs e⁻¹ of it."""

Range = tuple[float | None, float | None]
"""The lowest and the highest value, both included; None: no bound."""


@dataclass(frozen=True)
class Features:
    """What rules go by.

    Args:
        words: how many words the text has.
        segment: of the query in the click log: HEAD, TORSO or TAIL. None: not known.
        lexical_entropy, dense_entropy: how alike the leg's best hits score; None: it brought none.
    """

    words: int
    segment: str | None = None
    lexical_entropy: float | None = None
    dense_entropy: float | None = None

    @classmethod
    def of(cls, text: str, segment: str | None, scores: Mapping[str, Sequence[float]]) -> Features:
        """The features of a search.

        Args:
            text: what the user typed.
            scores: leg to the scores of its hits as the server gave them, best first.
        """
        lexical, dense = (entropy(scores.get(leg, ())) for leg in ("lexical", "dense"))
        return cls(len(clean_text(text).split()), segment, lexical, dense)


FEATURES = tuple(each.name for each in fields(Features))


def entropy(scores: Sequence[float]) -> float | None:
    """How alike a leg's best hits score: 0 where one stands out, 1 where all score the same.

    Of the first `ENTROPY_HITS` scores s: x = (s - min) / (max - min), p = softmax(x / `ENTROPY_TEMPERATURE`),
    and the entropy is -Σ p·ln p / ln n. None of no hits, 0 of one, 1 where all are equal.

    >>> entropy([2.0, 2.0]), entropy([5.0]), entropy([])
    (1.0, 0.0, None)
    """
    best = np.asarray(scores[:ENTROPY_HITS], dtype=np.float64)
    if best.size < 2:
        return 0.0 if best.size else None
    low, high = float(best.min()), float(best.max())
    if high == low:
        return 1.0
    if math.isinf(high - low):
        best, low, high = best / 2, low / 2, high / 2
    shares = softmax((best - low) / (high - low), ENTROPY_TEMPERATURE)
    return float(-np.sum(shares * np.log(shares)) / math.log(best.size))


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
