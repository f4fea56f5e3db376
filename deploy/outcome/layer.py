"""One fully connected layer: logistic regression, its penalty chosen on the validation trials alone."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trifuse.deploy.extra import one_thread, trials_extra
from trifuse.deploy.outcome.measures import Labels, Numbers

PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
"""What the inverse strength of the L2 penalty is chosen from."""

_STEPS = 2000


@dataclass(frozen=True)
class Layer:
    """weights · x + bias, through a sigmoid.

    Args:
        weights: (dimension,).
        bias: one number.
        penalty: the inverse strength of the L2 penalty that it was fitted with.
    """

    weights: NDArray[np.float64]
    bias: float
    penalty: float

    def predict(self, vectors: Any) -> Numbers:
        """The probability of being positive: (n,) of (n, dimension), sparse or not; one of one vector."""
        scores = np.asarray(vectors @ self.weights, dtype=np.float64) + self.bias
        return 1 / (1 + np.exp(-np.clip(scores, -500, 500)))


def fit_layer(
    vectors: Any,
    positive: Labels,
    valid_vectors: Any,
    valid_positive: Labels,
    *,
    penalties: Sequence[float] = PENALTIES,
) -> Layer:
    """The layer whose probabilities suit the validation trials best, by their log loss.

    Args:
        vectors: (n, dimension), sparse or not; both outcomes must be among them.

    Raises:
        TrialsMissing: scikit-learn isn't installed.
    """
    with trials_extra("outcome prediction"):
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression
    layers = []
    for penalty in penalties:
        with one_thread(), warnings.catch_warnings():
            # Where the classes can be told apart, the weights grow until the steps are used up.
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = LogisticRegression(C=penalty, max_iter=_STEPS).fit(vectors, positive)
        layers.append(Layer(fitted.coef_[0].astype(np.float64), float(fitted.intercept_[0]), penalty))
    return min(layers, key=lambda layer: log_loss(valid_positive, layer.predict(valid_vectors)))


def log_loss(positive: Labels, predicted: Numbers) -> float:
    """The mean of -log of the probability of what came.

    >>> round(log_loss(np.array([True, False]), np.array([0.5, 0.5])), 4)
    0.6931
    """
    sure = np.clip(np.where(positive, predicted, 1 - predicted), 1e-15, 1)
    return float(-np.log(sure).mean())
