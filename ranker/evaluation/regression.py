"""Which features go with a value: linear least squares, with bootstrap intervals. Pure.

Features are scaled to 0 to 1 (min-max), so that a coefficient is what lies between the least and the most of
a feature, all others equal. The mean is taken off the value and the features before the fit (an intercept).
Where features determine each other, as HEAD + TORSO + TAIL = 1, the solution with the smallest coefficients
is taken: those of a group that sums to one then sum to zero, and each says how much more, or less, than the
average of the group goes with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.significance import SEED

RESAMPLES = 2_000

_RANK = 1e-9
"""Singular values below so much of the largest are 0."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Coefficient:
    """What goes with one feature.

    Args:
        value: the change from its least to its most, all others equal; 0 where it is constant.
        ci95: the percentile interval over bootstrap resamples of the queries.
        low, high: its least and most, before scaling.
        mean: before scaling.
        explained: the share of its variance that the other features explain (R²); 1: they determine it.
    """

    value: float
    ci95: tuple[float, float]
    low: float
    high: float
    mean: float
    explained: float

    @property
    def constant(self) -> bool:
        """Whether it is the same for all queries: nothing can be said of it."""
        return self.low == self.high


@dataclass(frozen=True)
class Regression:
    """A fit.

    Args:
        coefficients: by feature.
        r2, adjusted_r2: the share of the value's variance that the features explain.
        observations: how many were fitted.
        mean: of the value.
        collinear: groups of features that determine each other.
        resamples: bootstrap resamples that the intervals are of. Those in which a feature lost its variance,
            say because no HEAD query was drawn, aren't among them.
    """

    coefficients: Mapping[str, Coefficient]
    r2: float
    adjusted_r2: float
    observations: int
    mean: float
    collinear: tuple[tuple[str, ...], ...]
    resamples: int

    @property
    def constant(self) -> tuple[str, ...]:
        """The features that are the same for all queries."""
        return tuple(name for name, each in self.coefficients.items() if each.constant)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "constant": list(self.constant)}


def regress(
    features: Mapping[str, Sequence[float]],
    values: Sequence[float],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> Regression:
    """Fit values by features.

    Args:
        features: name to (observations,).
        values: (observations,).

    Raises:
        NothingToEvaluate: there are no more observations than independent features and an intercept.
    """
    raw = np.column_stack([np.asarray(column, dtype=np.float64) for column in features.values()])
    target = np.asarray(values, dtype=np.float64)
    low, high = raw.min(axis=0), raw.max(axis=0)
    scaled = (raw - low) / np.where(high > low, high - low, 1.0)
    fitted, rank = _fit(scaled, target)
    count = len(target)
    if count <= rank + 1:
        raise NothingToEvaluate(
            f"{count} queries are too few to fit {rank} independent features and a mean: give more than "
            f"{rank + 1}"
        )
    drawn = _bootstrap(scaled, target, rank, resamples, seed)
    ends = np.quantile(drawn, [0.025, 0.975], axis=0) if len(drawn) else np.tile(fitted, (2, 1))
    r2 = _r2(scaled, target)
    names = list(features)
    coefficients = {
        name: Coefficient(
            value=float(fitted[at]),
            ci95=(float(ends[0, at]), float(ends[1, at])),
            low=float(low[at]),
            high=float(high[at]),
            mean=float(raw[:, at].mean()),
            explained=_r2(np.delete(scaled, at, axis=1), scaled[:, at]),
        )
        for at, name in enumerate(names)
    }
    return Regression(
        coefficients=coefficients,
        r2=r2,
        adjusted_r2=1 - (1 - r2) * (count - 1) / (count - rank - 1),
        observations=count,
        mean=float(target.mean()),
        collinear=tuple(tuple(names[at] for at in group) for group in _collinear(scaled)),
        resamples=len(drawn),
    )


def _fit(features: Floats, target: Floats) -> tuple[Floats, int]:
    """(features,) the smallest coefficients that fit best; and how many features are independent."""
    solved = np.linalg.lstsq(features - features.mean(axis=0), target - target.mean(), rcond=_RANK)
    return solved[0], int(solved[2])


def _bootstrap(features: Floats, target: Floats, rank: int, resamples: int, seed: int) -> Floats:
    """(resamples, features): coefficients of queries drawn with replacement."""
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(resamples):
        rows = rng.integers(0, len(target), len(target))
        fitted, found = _fit(features[rows], target[rows])
        if found == rank:
            drawn.append(fitted)
    return np.array(drawn)


def _r2(features: Floats, target: Floats) -> float:
    """The share of the target's variance that the features explain; 0 where it has none."""
    centred = target - target.mean()
    total = float(centred @ centred)
    if total == 0:
        return 0.0
    left = centred - (features - features.mean(axis=0)) @ _fit(features, target)[0]
    return min(1.0, max(0.0, 1 - float(left @ left) / total))


def _collinear(features: Floats) -> list[list[int]]:
    """Groups of columns, none constant, that determine each other up to a constant.

    The projection on the directions that change nothing has an entry where two columns take part in one.
    """
    varying = np.flatnonzero(np.ptp(features, axis=0))
    if not len(varying):
        return []
    centred = features[:, varying] - features[:, varying].mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=True)
    rank = int((sizes > _RANK * sizes[0]).sum())
    idle = directions[rank:]
    linked = np.abs(idle.T @ idle) > 1e-6
    groups: list[list[int]] = []
    seen: set[int] = set()
    for start in range(len(varying)):
        if linked[start].any() and start not in seen:
            group, ahead = {start}, [start]
            while ahead:
                near = set(np.flatnonzero(linked[ahead.pop()]).tolist()) - group
                group |= near
                ahead += near
            seen |= group
            groups.append(sorted(int(varying[at]) for at in group))
    return groups
