"""A profile: the settings by which legs become one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeGuard

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.ranker.click_settings import ClickSettings
from trifuse.ranker.combine import COMBINATIONS
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.normalize import NORMALIZATIONS, UNIT_NORM_TEMPERATURE
from trifuse.ranker.types import LEGS, Similarity

MAX_DEPTH = 10_000
"""`index.max_result_window`'s default: OpenSearch refuses a larger `size`."""

MAX_WEIGHT = 1e6
"""Beyond it scores that aren't normalised could add up to no finite number."""

DEFAULT_NORMALIZATION = {"lexical": "min_max", "dense": "min_max", "clicks": "none"}

_WEIGHTS = {"lexical": 0.5, "dense": 0.5, "clicks": 5.0}
_COMPARABLE_WEIGHTS = {**_WEIGHTS, "clicks": 0.25}


@dataclass(frozen=True)
class Profile:
    """Named settings of a ranking.

    Args:
        name: shown in responses.
        weights: leg to weight, 0 or more; a leg of weight 0, or not named, isn't run. Empty: 0.5 for lexical
            and dense, and for clicks 5, or 0.25 where their scores or ranks go up to the other legs' best.
        normalization: how raw scores become comparable: a name of `NORMALIZATIONS` for all legs, or leg to
            name. Where a leg isn't named it is `min_max`, and `none` for clicks: their scores are shares of a
            probability, which say by themselves how much there is to say.
            `softmax` and `none` see the dense leg's inner product or cosine, `min_max` the engine's score,
            which rises with it.
        softmax_temperature: leg to temperature, for `softmax` alone. None, or not named: 1 (LADER's), and for
            the dense leg over cosines `UNIT_NORM_TEMPERATURE`.
        combination: how legs become one score: a name of `COMBINATIONS`.
        depth: hits taken from the lexical and the dense leg, and from the click leg `clicks.candidates`;
            `from + size` can't go beyond it.
        k: neighbours searched per shard; None is `depth`. Above `depth` it buys recall with time.
        rank_constant: for `rrf` alone.
        clicks: how the click leg reads the log. Its `segment_weights` take the place of the weight of clicks,
            which still has to be above 0 for the leg to run.
        click_budget_s: seconds after which the click leg is left out.
        vector_field: the vector field that the dense leg searches.
    """

    name: str = "default"
    weights: Mapping[str, float] = field(default_factory=dict)
    normalization: str | Mapping[str, str] = field(default_factory=dict)
    softmax_temperature: Mapping[str, float | None] = field(default_factory=dict)
    combination: str = "weighted_sum"
    depth: int = 100
    k: int | None = None
    rank_constant: int = 60
    clicks: ClickSettings = field(default_factory=ClickSettings)
    click_budget_s: float = 0.3
    vector_field: str = VECTOR_FIELD

    def __post_init__(self) -> None:
        for name in ("name", "vector_field"):
            if not isinstance(getattr(self, name), str) or not getattr(self, name):
                raise ProfileError(f"{name} is {getattr(self, name)!r}: give a text")
        self._check_normalization()
        _one_of("combination", self.combination, COMBINATIONS)
        self._check_weights()
        _whole("depth", self.depth, MAX_DEPTH)
        _whole("k", self.neighbours, MAX_DEPTH)
        _whole("rank_constant", self.rank_constant, MAX_DEPTH)
        if not isinstance(self.clicks, ClickSettings):
            raise ProfileError(f"clicks is {self.clicks!r}: give settings of the click leg")
        for segment, weight in (self.clicks.segment_weights or {}).items():
            _check_weight(f"clicks.segment_weights[{segment}]", weight)
        if not _number(self.click_budget_s) or self.click_budget_s <= 0:
            raise ProfileError(f"click_budget_s is {self.click_budget_s!r}: give seconds above 0")

    def _check_weights(self) -> None:
        weights = _by_leg("weights", self.weights, '{"lexical": 0.5, "dense": 0.5}')
        for leg, weight in weights.items():
            _check_weight(f"the weight of {leg}", weight)
        if not weights:
            shares = self.normalization_of("clicks") != "min_max" and self.combination != "rrf"
            weights = _WEIGHTS if shares else _COMPARABLE_WEIGHTS
        if not any(weights.values()):
            raise ProfileError(f"no leg has a weight above 0: give at least one of {', '.join(LEGS)} one")
        object.__setattr__(self, "weights", {leg: float(weights.get(leg, 0.0)) for leg in LEGS})

    def _check_normalization(self) -> None:
        if isinstance(self.normalization, str):
            _one_of("normalization", self.normalization, NORMALIZATIONS)
        else:
            names = _by_leg("normalization", self.normalization, '"min_max" or {"dense": "softmax"}')
            for leg, name in names.items():
                _one_of(f"normalization of {leg}", name, NORMALIZATIONS)
            object.__setattr__(self, "normalization", {**DEFAULT_NORMALIZATION, **names})
        temperatures = _by_leg("softmax_temperature", self.softmax_temperature, '{"dense": 0.05}')
        for leg, value in temperatures.items():
            if value is not None and not (_number(value) and value > 0):
                raise ProfileError(f"softmax_temperature of {leg} is {value!r}: give a number above 0")
        object.__setattr__(self, "softmax_temperature", {leg: temperatures.get(leg) for leg in LEGS})

    @property
    def neighbours(self) -> int:
        """The `k` of the k-NN query."""
        return self.depth if self.k is None else self.k

    def normalization_of(self, leg: str) -> str:
        """The name of a leg's normalization."""
        return self.normalization if isinstance(self.normalization, str) else self.normalization[leg]

    def temperature_of(self, leg: str, similarity: Similarity | None) -> float:
        """The temperature of a leg's softmax, where the vectors are compared by that similarity."""
        value = self.softmax_temperature[leg]
        if value is not None:
            return value
        return UNIT_NORM_TEMPERATURE if leg == "dense" and similarity == "cosine" else 1.0

    def weights_in(self, segment: str | None) -> Mapping[str, float]:
        """Leg to weight, for a query of that segment of the click log; None where the segment isn't known."""
        by_segment = self.clicks.segment_weights
        if by_segment is None or segment is None or self.weights["clicks"] == 0:
            return self.weights
        return {**self.weights, "clicks": float(by_segment[segment])}

    def as_dict(self) -> dict[str, Any]:
        """The profile as JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Profile:
        """The profile that `as_dict` wrote; what isn't named keeps its default.

        Raises:
            ProfileError: a key that no profile has, or a value out of range.
        """
        given = _known(value, cls, "a profile")
        if isinstance(given.get("clicks"), Mapping):
            given["clicks"] = ClickSettings(**_known(given["clicks"], ClickSettings, "a profile's clicks"))
        return cls(**given)

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
                f"can't read weights from {text!r}: give lexical=0.5,dense=0.5,clicks=5"
            ) from None
        return cls(name=text, weights=weights)


def _known(value: Any, kind: type[Profile | ClickSettings], what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ProfileError(f"{what} is a {type(value).__name__}: give a JSON object")
    known = [each.name for each in fields(kind)]
    unknown = sorted(map(str, set(value) - set(known)))
    if unknown:
        raise ProfileError(f"{what} has no {unknown[0]!r}: it has {', '.join(known)}")
    return dict(value)


def _by_leg(name: str, value: Any, example: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ProfileError(f"{name} is {value!r}: give {example}")
    unknown = sorted(map(str, set(value) - set(LEGS)))
    if unknown:
        raise ProfileError(f"{name}: there is no leg {unknown[0]!r}: the legs are {', '.join(LEGS)}")
    return value


def _check_weight(what: str, value: object) -> None:
    if not _number(value) or not 0 <= value <= MAX_WEIGHT:
        raise ProfileError(f"{what} is {value!r}: give a finite number from 0 to {MAX_WEIGHT:g}")


def _number(value: object) -> TypeGuard[float]:
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
