"""Least squares with coefficients that were put in, or worked out by hand."""

from __future__ import annotations

import json

import pytest

from trifuse.ranker.errors import NothingToEvaluate
from trifuse.ranker.evaluation.regression import regress


def test_a_line() -> None:
    """x of 0, 1, 2 and y of 0, 1, 1: the slope is Σ(x-1)(y-2/3) / Σ(x-1)² = 1/2, so 1 from the least x to the
    most; what is left over is 1/36 + 4/36 + 1/36 of Σ(y-2/3)² = 24/36: R² is 3/4, adjusted 1 - 1/4 · 2/1."""
    found = regress({"x": [0, 1, 2]}, [0, 1, 1], resamples=50)
    x = found.coefficients["x"]
    assert x.value == pytest.approx(1.0)
    assert found.r2 == pytest.approx(0.75)
    assert found.adjusted_r2 == pytest.approx(0.5)
    assert (found.observations, found.mean) == (3, pytest.approx(2 / 3))
    assert (x.low, x.high, x.mean, x.explained) == (0, 2, 1, 0)
    assert (found.constant, found.collinear) == ((), ())


def test_coefficients_that_were_put_in_whatever_the_scale() -> None:
    """y = 3 + 0.2 a - 0.5 b: a spans 10 and b spans 2, so they change y by 2 and by -1."""
    a = [0, 10, 5, 2, 8, 0, 10, 3]
    b = [1, 1, 3, 2, 3, 3, 2, 1]
    y = [3 + 0.2 * left - 0.5 * right for left, right in zip(a, b, strict=True)]
    found = regress({"a": a, "b": b}, y, resamples=200)
    assert found.r2 == pytest.approx(1.0)
    for name, expected in (("a", 2.0), ("b", -1.0)):
        coefficient = found.coefficients[name]
        assert coefficient.value == pytest.approx(expected)
        assert coefficient.ci95 == (pytest.approx(expected), pytest.approx(expected))


def test_groups_that_sum_to_one_are_told_apart_from_their_average() -> None:
    """Means of 0.5, 0.2 and -0.1 by group: of coefficients that give the same fit, those that are the least
    sum to zero, so they are 0.3, 0 and -0.3 around the groups' average of 0.2."""
    groups = ["HEAD", "HEAD", "TORSO", "TORSO", "TAIL", "TAIL"]
    y = [0.4, 0.6, 0.2, 0.2, -0.2, 0.0]
    features = {name: [float(group == name) for group in groups] for name in ("HEAD", "TORSO", "TAIL")}
    found = regress(features, y, resamples=200)
    values = {name: each.value for name, each in found.coefficients.items()}
    assert values == {
        "HEAD": pytest.approx(0.3),
        "TORSO": pytest.approx(0, abs=1e-12),
        "TAIL": pytest.approx(-0.3),
    }
    assert found.collinear == (("HEAD", "TORSO", "TAIL"),)
    assert all(each.explained == pytest.approx(1.0) for each in found.coefficients.values())
    assert 0 < found.resamples < 200  # now and then a group wasn't drawn at all


def test_constant_and_collinear_features_are_named() -> None:
    """b = 2a + 1 shares what a has; c is always 4."""
    a = [0.0, 1.0, 2.0, 3.0]
    features = {"a": a, "b": [2 * each + 1 for each in a], "c": [4.0] * 4}
    found = regress(features, a, resamples=100)
    assert found.coefficients["a"].value == pytest.approx(1.5)  # half of 3 each
    assert found.coefficients["b"].value == pytest.approx(1.5)
    assert found.coefficients["c"].value == 0
    assert found.constant == ("c",)
    assert found.collinear == (("a", "b"),)
    assert json.loads(json.dumps(found.as_dict()))["constant"] == ["c"]


def test_noise_is_within_the_interval_and_nothing_explains_a_constant() -> None:
    found = regress({"a": [0.0, 1, 0, 1, 0, 1, 0, 1]}, [1.0, 1, -1, -1, 1, 1, -1, -1], resamples=500)
    low, high = found.coefficients["a"].ci95
    assert low < 0 < high
    assert regress({"a": [0.0, 1, 2]}, [5.0, 5, 5], resamples=10).r2 == 0


def test_too_few_queries() -> None:
    with pytest.raises(
        NothingToEvaluate, match=r"2 queries are too few to fit 1 independent features .*than 2"
    ):
        regress({"a": [0.0, 1.0]}, [0.0, 1.0])
