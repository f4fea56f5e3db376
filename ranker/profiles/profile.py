"""A profile: the settings by which legs become one ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.body import read_body
from trifuse.ranker.body_template import fill_template
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import BodyError, ProfileError
from trifuse.ranker.fusion import COMBINATIONS, NORMALIZATIONS
from trifuse.ranker.fusion.registry import SUMS
from trifuse.ranker.fusion.softmax import UNIT_NORM_TEMPERATURE
from trifuse.ranker.profiles.checks import (
    by_leg,
    check_weight,
    is_text,
    known,
    read_bounds,
    read_depths,
    read_floors,
)
from trifuse.ranker.profiles.rules import Rule, check_rules, read_rules
from trifuse.ranker.types import LEGS
from trifuse.ranker.values import check_one_of, check_whole, is_number

Execution = Literal["client", "native"]
"""Where legs are fused: here, or by the server's own `hybrid` query."""

EXECUTIONS = ("client", "native")

DEFAULT_NORMALIZATION = {"lexical": "min_max", "dense": "min_max", "clicks": "none"}

_WEIGHTS = {"lexical": 0.5, "dense": 0.5, "clicks": 5.0}
_COMPARABLE_WEIGHTS = {**_WEIGHTS, "clicks": 0.25}
_SHARES = ("none", "softmax")


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
            `softmax` and `none` see the dense leg's inner product or cosine, the others the engine's score,
            which rises with it.
        softmax_temperature: leg to temperature, for `softmax` alone. None, or not named: 1 (LADER's), and for
            the dense leg over cosines `UNIT_NORM_TEMPERATURE`.
        combination: how legs become one score: a name of `COMBINATIONS`.
        floors: leg to the lowest score, as the server gives it, of a hit that the leg brings.
        bounds: leg to the lowest and the highest score, as the server gives it, that the range for `min_max`
            spans at least; None leaves an end to the hits.
        depth: hits taken from the lexical and the dense leg, and from the click leg `clicks.candidates`;
            `from + size` can't go beyond it.
        depths: lexical or dense to the hits taken from that leg, where they are fewer than `depth`.
        k: neighbours searched per shard; None is the dense leg's depth. Above it, it buys recall with time.
        rank_constant: for `rrf` alone.
        clicks: how the click leg reads the log. Its `segment_weights` take the place of the weight of clicks,
            which still has to be above 0 for the leg to run.
        click_budget_s: seconds after which the click leg is left out.
        vector_field: the vector field that the dense leg searches; None: the one that the index is served by.
        execution: where the legs are fused: see `Execution`.
        body: the team's own search body, used where a search gives none; the text goes where a string is
            `{{text}}`.
        rules: the first whose conditions hold replaces weights, of legs that have one here.
    """

    name: str = "default"
    weights: Mapping[str, float] = field(default_factory=dict)
    normalization: str | Mapping[str, str] = field(default_factory=dict)
    softmax_temperature: Mapping[str, float | None] = field(default_factory=dict)
    combination: str = "weighted_sum"
    floors: Mapping[str, float] = field(default_factory=dict)
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)
    depth: int = 100
    depths: Mapping[str, int] = field(default_factory=dict)
    k: int | None = None
    rank_constant: int = 60
    clicks: ClickSettings = field(default_factory=ClickSettings)
    click_budget_s: float = 0.3
    vector_field: str | None = None
    execution: Execution = "client"
    body: Mapping[str, Any] | None = None
    rules: tuple[Rule, ...] = ()

    def __post_init__(self) -> None:
        if not is_text(self.name):
            raise ProfileError(f"name is {self.name!r}: give a text")
        if self.vector_field is not None and not is_text(self.vector_field):
            raise ProfileError(f"vector_field is {self.vector_field!r}: give a field's name, or null")
        check_one_of("execution", self.execution, EXECUTIONS)
        self._check_normalization()
        check_one_of("combination", self.combination, COMBINATIONS)
        object.__setattr__(self, "floors", read_floors(self.floors))
        object.__setattr__(self, "bounds", read_bounds(self.bounds))
        self._check_weights()
        check_whole("depth", self.depth)
        object.__setattr__(self, "depths", read_depths(self.depths))
        check_whole("k", self.neighbours)
        check_whole("rank_constant", self.rank_constant)
        if not is_number(self.click_budget_s) or self.click_budget_s <= 0:
            raise ProfileError(f"click_budget_s is {self.click_budget_s!r}: give seconds above 0")
        self._check_clicks()
        self._check_body()

    def _check_clicks(self) -> None:
        if not isinstance(self.clicks, ClickSettings):
            raise ProfileError(f"clicks is {self.clicks!r}: give settings of the click leg")
        by_segment = self.clicks.segment_weights
        for segment, weight in (by_segment or {}).items():
            check_weight(f"clicks.segment_weights[{segment}]", weight)
        object.__setattr__(self, "rules", read_rules(self.rules))
        check_rules(self.rules, self.weights, by_segment is not None)

    def _check_body(self) -> None:
        try:
            if self.body is not None:
                read_body(fill_template(self.body, "text"), depth=self.depth, start=0, size=0)
        except BodyError as error:
            raise ProfileError(f"body can't be used: {error}") from error

    def _check_weights(self) -> None:
        weights = by_leg("weights", self.weights, '{"lexical": 0.5, "dense": 0.5}')
        for leg, weight in weights.items():
            check_weight(f"the weight of {leg}", weight)
        if not weights:
            shares = self.normalization_of("clicks") in _SHARES and self.combination in SUMS
            weights = _WEIGHTS if shares else _COMPARABLE_WEIGHTS
        if not any(weights.values()):
            raise ProfileError(f"no leg has a weight above 0: give at least one of {', '.join(LEGS)} one")
        object.__setattr__(self, "weights", {leg: float(weights.get(leg, 0.0)) for leg in LEGS})

    def _check_normalization(self) -> None:
        if isinstance(self.normalization, str):
            check_one_of("normalization", self.normalization, NORMALIZATIONS)
        else:
            names = by_leg("normalization", self.normalization, '"min_max" or {"dense": "softmax"}')
            for leg, name in names.items():
                check_one_of(f"normalization of {leg}", name, NORMALIZATIONS)
            object.__setattr__(self, "normalization", {**DEFAULT_NORMALIZATION, **names})
        temperatures = by_leg("softmax_temperature", self.softmax_temperature, '{"dense": 0.05}')
        for leg, value in temperatures.items():
            if value is not None and not (is_number(value) and value > 0):
                raise ProfileError(f"softmax_temperature of {leg} is {value!r}: give a number above 0")
        object.__setattr__(self, "softmax_temperature", {leg: temperatures.get(leg) for leg in LEGS})

    @property
    def neighbours(self) -> int:
        """The `k` of the k-NN query."""
        return self._own_depth("dense") if self.k is None else self.k

    def depth_of(self, leg: str) -> int:
        """The hits that are taken from a leg, at most."""
        if leg == "clicks":
            return self.clicks.candidates
        own = self._own_depth(leg)
        return min(own, self.neighbours) if leg == "dense" else own

    def _own_depth(self, leg: str) -> int:
        return min(self.depths.get(leg, self.depth), self.depth)

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
        given = known(value, _names(cls), "a profile")
        if isinstance(given.get("clicks"), Mapping):
            given["clicks"] = ClickSettings(
                **known(given["clicks"], _names(ClickSettings), "a profile's clicks")
            )
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


def _names(kind: type[Profile | ClickSettings]) -> list[str]:
    return [each.name for each in fields(kind)]
