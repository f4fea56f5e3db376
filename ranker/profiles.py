"""A profile: the settings by which legs become one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.ranker.combine import COMBINATIONS
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.normalize import NORMALIZATIONS
from trifuse.ranker.types import LEGS

MAX_DEPTH = 10_000
"""`index.max_result_window`'s default: OpenSearch refuses a larger `size`."""

_DEFAULT_WEIGHTS = {"lexical": 0.4, "dense": 0.4, "clicks": 0.2}


@dataclass(frozen=True)
class Profile:
    """Named settings of a ranking.

    Args:
        name: shown in responses.
        weights: leg to weight, 0 or more; a leg of weight 0, or not named, isn't run.
        normalization: how a leg's raw scores become comparable: a name of `NORMALIZATIONS`.
        combination: how legs become one score: a name of `COMBINATIONS`.
        depth: hits taken from each leg; `from + size` can't go beyond it.
        k: neighbours searched per shard; None is `depth`. Above `depth` it buys recall with time.
        rank_constant: for `rrf` alone.
        click_budget_s: seconds after which the click leg is left out.
        vector_field: the vector field that the dense leg searches.
    """

    name: str = "default"
    weights: Mapping[str, float] = field(default_factory=lambda: dict(_DEFAULT_WEIGHTS))
    normalization: str = "min_max"
    combination: str = "weighted_sum"
    depth: int = 100
    k: int | None = None
    rank_constant: int = 60
    click_budget_s: float = 0.3
    vector_field: str = VECTOR_FIELD

    def __post_init__(self) -> None:
        if not isinstance(self.weights, Mapping):
            raise ProfileError(f'weights is {self.weights!r}: give {{"lexical": 0.5, "dense": 0.5}}')
        unknown = sorted(set(self.weights) - set(LEGS))
        if unknown:
            raise ProfileError(f"no leg {unknown[0]!r}: the legs are {', '.join(LEGS)}")
        for leg, weight in self.weights.items():
            if not _number(weight) or weight < 0:
                raise ProfileError(f"the weight of {leg} is {weight!r}: give a finite number of 0 or more")
        if not math.isfinite(sum(map(float, self.weights.values()))):
            raise ProfileError("the weights add up to no finite number: give smaller ones")
        if not any(self.weights.values()):
            raise ProfileError(f"no leg has a weight above 0: give at least one of {', '.join(LEGS)} one")
        object.__setattr__(self, "weights", {leg: float(self.weights.get(leg, 0.0)) for leg in LEGS})
        _one_of("normalization", self.normalization, NORMALIZATIONS)
        _one_of("combination", self.combination, COMBINATIONS)
        _whole("depth", self.depth, MAX_DEPTH)
        _whole("k", self.neighbours, MAX_DEPTH)
        _whole("rank_constant", self.rank_constant, MAX_DEPTH)
        if not _number(self.click_budget_s) or self.click_budget_s <= 0:
            raise ProfileError(f"click_budget_s is {self.click_budget_s!r}: give seconds above 0")

    @property
    def neighbours(self) -> int:
        """The `k` of the k-NN query."""
        return self.depth if self.k is None else self.k

    def as_dict(self) -> dict[str, Any]:
        """The profile as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Profile:
        """The profile that `as_dict` wrote; what isn't named keeps its default.

        Raises:
            ProfileError: a key that no profile has, or a value out of range.
        """
        known = [each.name for each in fields(cls)]
        unknown = sorted(set(value) - set(known))
        if unknown:
            raise ProfileError(f"a profile has no {unknown[0]!r}: it has {', '.join(known)}")
        return cls(**value)

    @classmethod
    def parse(cls, text: str) -> Profile:
        """A profile from weights on a command line.

        >>> Profile.parse("lexical=0.7,dense=0.3").weights["dense"]
        0.3
        """
        try:
            pairs = dict(part.split("=") for part in text.split(","))
            weights = {leg.strip(): float(weight) for leg, weight in pairs.items()}
        except ValueError:
            raise ProfileError(
                f"can't read weights from {text!r}: give lexical=0.5,dense=0.4,clicks=0.1"
            ) from None
        return cls(name=text, weights=weights)


def _number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def _whole(name: str, value: object, highest: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= highest:
        raise ProfileError(f"{name} is {value!r}: give a whole number from 1 to {highest}")


def _one_of(name: str, value: object, known: Mapping[str, object]) -> None:
    if not isinstance(value, str) or value not in known:
        raise ProfileError(f"{name} is {value!r}: it is one of {', '.join(known)}")
