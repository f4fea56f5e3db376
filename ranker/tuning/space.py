"""What is tuned: settings, each of which makes a profile, and the space that they are taken from. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from trifuse.ranker.clicks.settings import SEGMENTS
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.fusion.registry import OF_THEIR_OWN, SUMS
from trifuse.ranker.profiles.checks import MAX_WEIGHT
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.tuning.collected import Collected

TUNED = "tuned"
"""The name of a profile that was tuned and isn't saved yet."""


class Setting(NamedTuple):
    """One choice of what is tuned.

    Args:
        dense: the weight of the dense leg; lexical has 1 - dense.
        clicks: the weight of clicks.
        normalization: of lexical and dense; that of clicks goes with the combination.
        combination: how legs become one score.
        rank_constant: for `rrf` alone.
        depth: hits taken from each leg.
        segments: the weights of clicks for HEAD, TORSO and TAIL queries; None: `clicks` for all.
    """

    dense: float
    clicks: float
    normalization: str
    combination: str
    rank_constant: int
    depth: int
    segments: tuple[float, ...] | None = None

    @property
    def technique(self) -> str:
        """Normalization and combination, as far as they matter.

        >>> Setting(0.4, 2.0, "min_max", "weighted_sum", 60, 100).technique
        'min_max, weighted_sum'
        """
        alone = self.combination in OF_THEIR_OWN
        return self.combination if alone else f"{self.normalization}, {self.combination}"

    def profile(self, base: Profile) -> Profile:
        """The profile that serves it: fused here, without rules, and all that isn't tuned is the base's."""
        by_segment = dict(zip(SEGMENTS, self.segments, strict=True)) if self.segments else None
        raw = self.combination in SUMS
        names = {"lexical": self.normalization, "dense": self.normalization, "clicks": "none"}
        return replace(
            base,
            name=TUNED,
            weights={"lexical": round(1.0 - self.dense, 6), "dense": self.dense, "clicks": self.clicks},
            normalization=names if raw else {**names, "clicks": "min_max"},
            combination=self.combination,
            rank_constant=self.rank_constant,
            depth=self.depth,
            clicks=replace(base.clicks, segment_weights=by_segment),
            rules=(),
            execution="client",
        )

    def changes(self, base: Profile) -> int:
        """In how much it differs from a profile: of equal settings the one that changes least is taken."""
        weights = base.weights
        both = weights["lexical"] + weights["dense"] or 1.0
        return sum(
            (
                abs(self.dense - weights["dense"] / both) > 1e-6,
                abs(self.clicks - weights["clicks"] / both) > 1e-6,
                self.normalization != base.normalization_of("lexical"),
                self.combination != base.combination,
                self.combination == "rrf" and self.rank_constant != base.rank_constant,
                self.depth != base.depth,
                self.segments is not None,
            )
        )


DENSE = tuple(round(0.05 * step, 2) for step in range(21))

TECHNIQUES = (
    ("min_max", "weighted_sum"),
    ("l2", "weighted_sum"),
    ("z_score", "weighted_sum"),
    ("min_max", "geometric_mean"),
    ("min_max", "harmonic_mean"),
    ("min_max", "rrf"),
    ("min_max", "dbsf"),
)


@dataclass(frozen=True)
class Space:
    """The settings that are searched. What is left empty has the baseline's own value beside those here.

    Args:
        dense: weights of the dense leg, in [0, 1]; lexical has the rest of 1. Empty: 0 to 1 in steps of 0.05.
        clicks: weights of clicks; empty: 0 to 16 where their scores are taken as they are, 0 to 1 where they
            go up to the other legs' best. Without clicks collected it is 0 alone.
        techniques: normalization and combination; empty: `TECHNIQUES`.
        rank_constants: for `rrf`.
        depths: at most the one that was collected; empty: that one.
        own_clicks: the baseline's combination and weight of clicks, as `within` finds them.
    """

    dense: Sequence[float] = ()
    clicks: Sequence[float] = ()
    techniques: Sequence[tuple[str, str]] = ()
    rank_constants: Sequence[int] = (10, 20, 60)
    depths: Sequence[int] = ()
    own_clicks: tuple[str, float] | None = None

    def __post_init__(self) -> None:
        if not self.rank_constants:
            raise ProfileError("rank_constants of the space is empty: give at least one value")
        if not all(0 <= share <= 1 for share in self.dense):
            raise ProfileError(f"dense of the space is {self.dense!r}: give weights from 0 to 1")

    def within(self, collected: Collected, base: Profile) -> Space:
        """The part of the space that makes a difference to what was collected, with nothing left empty.

        Raises:
            ProfileError: no leg was collected that could be weighed against another.
        """
        legs = collected.legs
        if not {"lexical", "dense"} & set(legs):
            raise ProfileError(
                f"neither lexical nor dense brought anything for any query of {collected.index}"
            )
        both = base.weights["lexical"] + base.weights["dense"]
        own = round(base.weights["dense"] / both, 6) if both else 0.5
        dense = self.dense or sorted({*DENSE, own})
        technique = (base.normalization_of("lexical"), base.combination)
        clicks = base.weights["clicks"] / both if both else math.inf
        return replace(
            self,
            dense=dense if {"lexical", "dense"} <= set(legs) else (float("dense" in legs),),
            clicks=self.clicks if "clicks" in legs else (0.0,),
            techniques=self.techniques or tuple(dict.fromkeys((*TECHNIQUES, technique))),
            depths=self.depths or (collected.depth,),
            own_clicks=(base.combination, round(clicks, 6)) if clicks <= MAX_WEIGHT else None,
        )

    def clicks_for(self, combination: str) -> Sequence[float]:
        """The weights of clicks that go with a combination."""
        if self.clicks:
            return self.clicks
        named = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0) if combination in SUMS else (0.0, 0.1, 0.25, 0.5, 1.0)
        own, weight = self.own_clicks or ("", 0.0)
        return sorted({*named, weight}) if own == combination else named

    def grid(self) -> list[Setting]:
        """All settings; where one leg alone has a weight all techniques rank alike, so the first is taken."""
        found: dict[tuple[Any, ...], Setting] = {}
        for depth, (normalization, combination) in itertools.product(self.depths, self.techniques):
            constants = self.rank_constants if combination == "rrf" else (60,)
            choices = itertools.product(constants, self.clicks_for(combination), self.dense)
            for constant, clicks, dense in choices:
                setting = Setting(dense, clicks, normalization, combination, constant, depth)
                alone = clicks == 0 and dense in (0, 1)
                found.setdefault((dense, depth) if alone else tuple(setting), setting)
        return list(found.values())

    def random(self, trials: int, seed: int) -> list[Setting]:
        """Settings at random: weights from the whole of their ranges, the rest from what there is."""
        rng = np.random.default_rng(seed)
        return list(dict.fromkeys(self._draw(rng) for _ in range(trials)))

    def _draw(self, rng: np.random.Generator) -> Setting:
        normalization, combination = self.techniques[int(rng.integers(len(self.techniques)))]
        low, high = min(self.dense), max(self.dense)
        most = max(self.clicks_for(combination))
        return Setting(
            # Of clicks that the other legs support every ratio of these is a table of its own: not too many.
            dense=round(float(rng.uniform(low, high)) * 50) / 50 if low < high else float(low),
            clicks=round(float(rng.uniform(0.0, most)), 2) if rng.random() > 0.1 else 0.0,
            normalization=normalization,
            combination=combination,
            rank_constant=int(rng.choice(self.rank_constants)) if combination == "rrf" else 60,
            depth=int(rng.choice(self.depths)),
        )

    def around(self, best: Setting) -> Iterator[tuple[str, list[tuple[str, Setting]]]]:
        """Each number changed alone, all else as in a setting: its name, and value to setting."""
        yield "dense", [(f"{x:g}", best._replace(dense=x)) for x in sorted({*self.dense, best.dense})]
        weights = sorted({*self.clicks_for(best.combination), best.clicks})
        if len(weights) > 1:
            yield "clicks", [(f"{x:g}", best._replace(clicks=x, segments=None)) for x in weights]
        if best.combination == "rrf":
            constants = sorted({*self.rank_constants, best.rank_constant})
            yield "rank_constant", [(f"{x}", best._replace(rank_constant=x)) for x in constants]
        if len(self.depths) > 1:
            yield "depth", [(f"{x}", best._replace(depth=x)) for x in sorted(self.depths)]
