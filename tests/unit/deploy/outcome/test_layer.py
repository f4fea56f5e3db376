"""The layer: what it predicts by hand, what it learns, how its penalty is chosen."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest

from trifuse.deploy.errors import OutcomeInvalid, TrialsMissing
from trifuse.deploy.outcome.compare import BASE_RATE, compare, differences
from trifuse.deploy.outcome.layer import Layer, fit_layer, log_loss
from trifuse.deploy.outcome.split import Split

PARTS: tuple[Split, ...] = ("train",) * 6 + ("valid",) * 2 + ("test",) * 2
POSITIVE = np.array([True, False] * 5)
TELLING = np.where(POSITIVE, 1.0, -1.0)[:, None]


def test_a_sigmoid_of_one_product() -> None:
    """2 * 0.5 - 1 * 1 + 0.5 = 0.5."""
    layer = Layer(np.array([2.0, -1.0]), 0.5, 1.0)
    assert layer.predict(np.array([[0.5, 1.0]])) == pytest.approx([1 / (1 + math.exp(-0.5))])
    assert layer.predict(np.array([[1e6, 0.0], [-1e6, 0.0]])) == pytest.approx([1, 0])


def test_the_weight_is_where_the_penalised_loss_is_least() -> None:
    """Two trials at 1 and -1: w / C = 2 * (1 - sigmoid(w)), the bias 0 by symmetry."""
    pytest.importorskip("sklearn")
    layer = fit_layer(TELLING[:2], POSITIVE[:2], TELLING[:2], POSITIVE[:2], penalties=(1.0,))
    weight = layer.weights[0]
    assert weight == pytest.approx(2 * (1 - 1 / (1 + math.exp(-weight))), abs=1e-4)
    assert layer.bias == pytest.approx(0, abs=1e-6)


def test_the_penalty_is_chosen_on_the_validation_trials() -> None:
    """Where they say what was learned, the weakest penalty is best; where the contrary, the strongest."""
    pytest.importorskip("sklearn")
    assert fit_layer(TELLING, POSITIVE, TELLING, POSITIVE).penalty == 1000
    assert fit_layer(TELLING, POSITIVE, TELLING, ~POSITIVE).penalty == 0.01


def test_log_loss_of_what_was_sure_and_wrong_is_finite() -> None:
    assert math.isfinite(log_loss(np.array([True]), np.array([0.0])))


def test_features_that_tell_against_those_that_dont() -> None:
    """Perfect against a constant of one half, which the base rate is here, too."""
    pytest.importorskip("sklearn")
    found = compare({"telling": TELLING, "blank": np.zeros((10, 1))}, POSITIVE, PARTS)
    assert found.trials == {"train": (3, 3), "valid": (1, 1), "test": (1, 1)}
    assert list(found.methods) == [BASE_RATE, "telling", "blank"]
    assert found.methods["telling"].measures["roc_auc"].mean == 1
    assert found.methods["blank"].measures["roc_auc"].mean == 0.5
    base = found.methods[BASE_RATE].measures
    assert (base["brier"].mean, base["calibration_error"].mean) == (0.25, 0)
    more = differences(found, POSITIVE[8:], "telling", resamples=20)
    assert more["blank"]["roc_auc"].mean == 0.5
    assert more["blank"]["roc_auc"].ci95 == (0.5, 0.5)
    told = found.as_dict()
    assert told["methods"]["telling"]["roc_auc"] == {"mean": 1.0, "ci95": [1.0, 1.0]}
    assert told["trials"]["train"] == {"positive": 3, "negative": 3}


def test_the_test_trials_are_neither_learned_from_nor_tuned_on() -> None:
    """Turning their labels over changes no weight."""
    pytest.importorskip("sklearn")
    turned = POSITIVE.copy()
    turned[8:] = ~turned[8:]
    layers = [compare({"x": TELLING}, labels, PARTS).methods["x"].layer for labels in (POSITIVE, turned)]
    assert layers[0] is not None
    assert layers[1] is not None
    assert layers[0].weights == pytest.approx(layers[1].weights)


def test_a_part_without_one_of_the_outcomes_is_refused() -> None:
    with pytest.raises(OutcomeInvalid, match=r"valid lacks one .* valid 2 \+ 0"):
        compare({"x": TELLING}, np.array([True, False] * 3 + [True, True, True, False]), PARTS)


def test_without_scikit_learn_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(TrialsMissing, match=r"pip install 'trifuse\[trials\]'"):
        fit_layer(TELLING, POSITIVE, TELLING, POSITIVE)
