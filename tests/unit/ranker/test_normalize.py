from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.ranker.normalize import NORMALIZATIONS, min_max

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


@pytest.mark.parametrize("name", NORMALIZATIONS)
@given(scores=st.lists(finite, min_size=1, max_size=30))
def test_monotone_and_bounded(name: str, scores: list[float]) -> None:
    normalized = NORMALIZATIONS[name](np.array(scores))
    assert np.isfinite(normalized).all()
    assert normalized.max() == 1.0
    assert normalized.min() >= 0.0
    order = np.argsort(scores)
    assert (np.diff(normalized[order]) >= 0).all()


@pytest.mark.parametrize("name", NORMALIZATIONS)
@given(data=st.data(), scores=st.lists(finite, min_size=1, max_size=30))
def test_the_order_of_hits_makes_no_difference(name: str, data: st.DataObject, scores: list[float]) -> None:
    order = data.draw(st.permutations(range(len(scores))))
    normalized = NORMALIZATIONS[name](np.array(scores))
    assert NORMALIZATIONS[name](np.array(scores)[order]).tolist() == normalized[order].tolist()
