"""How good predicted probabilities are. Pure NumPy; each function reads like its definition.

`positive` is (n,) bool, `predicted` (n,) the probability of being positive.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.bool_]
Numbers = NDArray[np.float64]
Measure = Callable[[Labels, Numbers], float]

BINS = 10
RESAMPLES = 1000


def accuracy(positive: Labels, predicted: Numbers) -> float:
    """The share of trials that are on the side of 0.5 that they are predicted on."""
    return float(np.mean((predicted >= 0.5) == positive))


def roc_auc(positive: Labels, predicted: Numbers) -> float:
    """How often a positive is predicted above a negative, a tie counting half; NaN without both.

    >>> roc_auc(np.array([True, False, True]), np.array([0.9, 0.5, 0.5]))
    0.75
    """
    positives = int(positive.sum())
    negatives = len(positive) - positives
    if not positives or not negatives:
        return float("nan")
    _, place, count = np.unique(predicted, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place]  # from 1; those that are equal share the mean
    return float((ranks[positive].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def pr_auc(positive: Labels, predicted: Numbers) -> float:
    """Average precision: the precision at each threshold, weighted by the recall that it adds; NaN without
    positives.

    >>> round(pr_auc(np.array([True, False, True]), np.array([0.9, 0.5, 0.1])), 4)
    0.8333
    """
    if not positive.any():
        return float("nan")
    order = np.argsort(-predicted, kind="stable")
    last = np.append(np.diff(predicted[order]) != 0, True)  # of those that are equal
    found = np.cumsum(positive[order])[last]
    precision = found / (np.flatnonzero(last) + 1)
    return float(np.sum(np.diff(found, prepend=0) * precision) / found[-1])


def pr_auc_negative(positive: Labels, predicted: Numbers) -> float:
    """Average precision of finding the negatives: where most trials are positive, this is the harder one."""
    return pr_auc(~positive, 1 - predicted)


def brier(positive: Labels, predicted: Numbers) -> float:
    """The mean squared distance of the probability from what came (1 or 0): less is better."""
    return float(np.mean((predicted - positive) ** 2))


@dataclass(frozen=True)
class Reliability:
    """Ten bins of equal width over the predicted probability; empty ones are left out.

    Args:
        predicted: (bins,) the mean probability in each.
        observed: (bins,) the share of positives in each.
        trials: (bins,) how many are in each.
    """

    predicted: Numbers
    observed: Numbers
    trials: NDArray[np.int64]


def reliability(positive: Labels, predicted: Numbers) -> Reliability:
    """What came of trials, by what was predicted of them."""
    bins = np.minimum((predicted * BINS).astype(np.int64), BINS - 1)
    trials = np.bincount(bins, minlength=BINS)
    there = trials > 0
    mean = np.bincount(bins, predicted, BINS)[there] / trials[there]
    share = np.bincount(bins, positive, BINS)[there] / trials[there]
    return Reliability(mean, share, trials[there])


def calibration_error(positive: Labels, predicted: Numbers) -> float:
    """Expected calibration error: how far the bins are off, weighted by their trials. Less is better."""
    found = reliability(positive, predicted)
    return float(np.average(np.abs(found.predicted - found.observed), weights=found.trials))


MEASURES: Mapping[str, Measure] = {
    "accuracy": accuracy,
    "roc_auc": roc_auc,
    "pr_auc": pr_auc,
    "pr_auc_negative": pr_auc_negative,
    "brier": brier,
    "calibration_error": calibration_error,
}


@dataclass(frozen=True)
class Measured:
    """A measure with its 95 % bootstrap interval over trials."""

    mean: float
    ci95: tuple[float, float]


def measured(
    positive: Labels, predicted: Numbers, *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Measured]:
    """Every measure with its interval: the percentiles of trials drawn anew, with replacement."""
    draws = np.random.default_rng(seed).integers(0, len(positive), (resamples, len(positive)))
    return {
        name: Measured(
            measure(positive, predicted), _interval([measure(positive[at], predicted[at]) for at in draws])
        )
        for name, measure in MEASURES.items()
    }


def _interval(values: list[float]) -> tuple[float, float]:
    """The middle 95 %, of the resamples that have both outcomes."""
    known = [value for value in values if not np.isnan(value)]
    if not known:
        return float("nan"), float("nan")
    low, high = np.percentile(known, (2.5, 97.5))
    return float(low), float(high)
