from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.fusion import NORMALIZATIONS, Scaling
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.none import none
from trifuse.ranker.fusion.softmax import UNIT_NORM_TEMPERATURE, softmax

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_f1_a_single_hit_and_equal_hits_are_one() -> None:
    assert min_max(np.array([7.2])).tolist() == [1.0]
    assert min_max(np.array([0.0])).tolist() == [1.0]
    assert min_max(np.array([3.5, 3.5, 3.5])).tolist() == [1.0, 1.0, 1.0]


def test_f14_negative_scores_and_no_scores() -> None:
    assert min_max(np.array([-1.0, -3.0, -2.0])).tolist() == [1.0, 0.0, 0.5]
    assert min_max(np.array([-2.0, -2.0])).tolist() == [1.0, 1.0]
    assert min_max(np.array([])).tolist() == []


def test_by_hand() -> None:
    assert min_max(np.array([10.0, 4.0, 2.0])).tolist() == [1.0, 0.25, 0.0]


def test_a_range_wider_than_a_float_holds() -> None:
    assert min_max(np.array([1.7e308, 0.0, -1.7e308])).tolist() == [1.0, 0.5, 0.0]


def test_softmax_by_hand() -> None:
    """e^0 : e^-ln 3 : e^-ln 6 is 6 : 2 : 1; at half the temperature the differences double: 36 : 4 : 1."""
    scores = 5.0 - np.log([1.0, 3.0, 6.0])
    assert softmax(scores, Scaling(1.0)) == pytest.approx([6 / 9, 2 / 9, 1 / 9], rel=1e-12)
    assert softmax(scores, Scaling(0.5)) == pytest.approx([36 / 41, 4 / 41, 1 / 41], rel=1e-12)
    assert softmax(np.array([])).tolist() == []
    assert softmax(np.array([-3.0]), Scaling(0.05)).tolist() == [1.0]


@pytest.mark.parametrize("scores", [[1000.0, 1000.0], [-1000.0, -1000.0], [1.7e308, 1.7e308]])
def test_softmax_of_scores_whose_powers_no_float_holds(scores: list[float]) -> None:
    assert softmax(np.array(scores)).tolist() == [0.5, 0.5]


def test_extreme_temperatures() -> None:
    """Near 0 the best takes it all, and equal ones share it; at the other end all are equal."""
    scores = np.array([0.9, 0.9, 0.8, -1.7e308])
    assert softmax(scores, Scaling(5e-324)).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert softmax(scores[:3], Scaling(1e308)).tolist() == pytest.approx([1 / 3] * 3)


def test_cosines_at_the_papers_temperature_are_flat() -> None:
    """What `UNIT_NORM_TEMPERATURE` is for: the best of 1,000 cosines, 0.3 above the last."""
    cosines = np.linspace(0.9, 0.6, 1000)
    flat, steep = softmax(cosines, Scaling(1.0)), softmax(cosines, Scaling(UNIT_NORM_TEMPERATURE))
    assert flat[0] / flat[-1] == pytest.approx(1.35, abs=0.005)
    assert steep[0] / steep[-1] == pytest.approx(403.4, abs=0.05)
    assert flat[0] < 0.0012


@pytest.mark.parametrize("name", NORMALIZATIONS)
@given(scores=st.lists(finite, min_size=1, max_size=30))
def test_monotone(name: str, scores: list[float]) -> None:
    normalized = NORMALIZATIONS[name](np.array(scores), Scaling())
    assert np.isfinite(normalized).all()
    ordered = normalized[np.argsort(scores)]
    assert (ordered[1:] >= ordered[:-1]).all()


@given(scores=st.lists(finite, min_size=1, max_size=30))
def test_bounded(scores: list[float]) -> None:
    scaled = min_max(np.array(scores))
    assert (scaled.max(), scaled.min() >= 0.0) == (1.0, True)
    assert softmax(np.array(scores)).sum() == pytest.approx(1.0)
    assert none(np.array(scores)).tolist() == scores


@pytest.mark.parametrize("name", NORMALIZATIONS)
@given(data=st.data(), scores=st.lists(finite, min_size=1, max_size=30))
def test_the_order_of_hits_makes_no_difference(name: str, data: st.DataObject, scores: list[float]) -> None:
    order = data.draw(st.permutations(range(len(scores))))
    normalized = NORMALIZATIONS[name](np.array(scores), Scaling())
    shuffled = NORMALIZATIONS[name](np.array(scores)[order], Scaling())
    assert shuffled.tolist() == pytest.approx(normalized[order].tolist(), rel=1e-12)
