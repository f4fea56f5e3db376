"""Several kinds of features, each through a layer of its own, judged on the same trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trifuse.deploy.errors import OutcomeInvalid
from trifuse.deploy.outcome.layer import Layer, fit_layer
from trifuse.deploy.outcome.measures import MEASURES, Labels, Measured, Numbers, Reliability, reliability
from trifuse.deploy.outcome.measures import measured as measure_all
from trifuse.deploy.outcome.split import SPLITS, Split

BASE_RATE = "base rate"
"""The method that predicts the training trials' share of positives of every trial: what costs nothing."""

VECTORS = "vectors"
"""The method of an index's own vectors."""


@dataclass(frozen=True)
class Judged:
    """How one method did on the test trials."""

    measures: Mapping[str, Measured]
    reliability: Reliability
    predicted: Numbers = field(repr=False)
    layer: Layer | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Comparison:
    """Methods on the same test trials, and how many trials there were.

    Args:
        methods: `base rate` first, then the others in their order.
        trials: for each part (positive, negative).
    """

    methods: Mapping[str, Judged]
    trials: Mapping[Split, tuple[int, int]]

    def as_dict(self) -> dict[str, Any]:
        """The comparison as JSON."""
        return {
            "methods": {
                name: {
                    measure: {"mean": found.mean, "ci95": list(found.ci95)}
                    for measure, found in judged.measures.items()
                }
                | {
                    "reliability": {
                        "predicted": judged.reliability.predicted.tolist(),
                        "observed": judged.reliability.observed.tolist(),
                        "trials": judged.reliability.trials.tolist(),
                    },
                    "penalty": judged.layer and judged.layer.penalty,
                }
                for name, judged in self.methods.items()
            },
            "trials": {
                part: {"positive": positive, "negative": negative}
                for part, (positive, negative) in self.trials.items()
            },
        }


def compare(
    features: Mapping[str, Any], positive: Labels, splits: Sequence[Split], *, seed: int = 0
) -> Comparison:
    """Fit a layer to each kind of features, choose its penalty on `valid`, and judge it on `test`.

    Args:
        features: method to (n, dimension), sparse or not.
        positive: (n,) bool.
        splits: n parts.
        seed: of the intervals' resamples, which are the same for all methods.

    Raises:
        OutcomeInvalid: a part lacks one of the outcomes.
        TrialsMissing: scikit-learn isn't installed.
    """
    at = {part: np.flatnonzero(np.array([found == part for found in splits])) for part in SPLITS}
    trials = {part: (int(positive[rows].sum()), int((~positive[rows]).sum())) for part, rows in at.items()}
    _require_both(trials)
    truth = positive[at["test"]]

    def judge(predicted: Numbers, layer: Layer | None = None) -> Judged:
        return Judged(
            measure_all(truth, predicted, seed=seed), reliability(truth, predicted), predicted, layer
        )

    methods = {BASE_RATE: judge(np.full(len(truth), positive[at["train"]].mean()))}
    for name, matrix in features.items():
        layer = fit_layer(
            matrix[at["train"]], positive[at["train"]], matrix[at["valid"]], positive[at["valid"]]
        )
        methods[name] = judge(layer.predict(matrix[at["test"]]), layer)
    return Comparison(methods, trials)


def differences(
    comparison: Comparison, positive: Labels, method: str, *, seed: int = 0, resamples: int = 1000
) -> dict[str, dict[str, Measured]]:
    """How much better a method does than each other one, on the same resampled trials.

    Args:
        positive: (test,) bool, the truth of the test trials.

    Returns:
        Other method to measure to the difference; of `brier` and `calibration_error` less is better.
    """
    draws = np.random.default_rng(seed).integers(0, len(positive), (resamples, len(positive)))
    ours = comparison.methods[method].predicted
    found: dict[str, dict[str, Measured]] = {}
    for other, judged in comparison.methods.items():
        if other == method:
            continue
        found[other] = {}
        for name, measure in MEASURES.items():
            values = [
                measure(positive[at], ours[at]) - measure(positive[at], judged.predicted[at]) for at in draws
            ]
            low, high = np.nanpercentile(values, (2.5, 97.5))
            mean = measure(positive, ours) - measure(positive, judged.predicted)
            found[other][name] = Measured(mean, (float(low), float(high)))
    return found


def _require_both(trials: Mapping[Split, tuple[int, int]]) -> None:
    lacking = [part for part, counts in trials.items() if 0 in counts]
    if lacking:
        said = ", ".join(
            f"{part} {positive:,} + {negative:,}" for part, (positive, negative) in trials.items()
        )
        raise OutcomeInvalid(
            f"every part needs trials of both outcomes, but {' and '.join(lacking)} lacks one (positive + "
            f"negative: {said}): label more trials, or check --positive and --negative"
        )
