from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from trifuse.ranker.fusion import NORMALIZATIONS, Scaling
from trifuse.ranker.fusion.dbsf import three_deviations
from trifuse.ranker.fusion.l2 import l2
from trifuse.ranker.fusion.min_max import min_max
from trifuse.ranker.fusion.none import none
from trifuse.ranker.fusion.normalization import Normalization
from trifuse.ranker.fusion.softmax import UNIT_NORM_TEMPERATURE, softmax
from trifuse.ranker.fusion.z_score import z_score

TECHNIQUES = {**NORMALIZATIONS, "dbsf": three_deviations}

finite = st.floats(allow_nan=False, allow_infinity=False)
float32 = st.floats(width=32, min_value=-1e6, max_value=1e6)
slopes, shifts = st.sampled_from([0.125, 0.5, 2.0, 1024.0]), st.sampled_from([-512.0, 0.0, 3.0])


def test_by_hand() -> None:
    """[10, 4, 2, 0] has mean 4 and sample variance (36 + 0 + 4 + 16) / 3 = 56 / 3."""
    scores = np.array([10.0, 4.0, 2.0, 0.0])
    deviation = (56 / 3) ** 0.5
    assert min_max(scores).tolist() == [1.0, 0.4, 0.2, 0.0]
    assert l2(scores) == pytest.approx(scores / 120**0.5, rel=1e-15)
    assert z_score(scores) == pytest.approx(scores / deviation, rel=1e-15)
    assert three_deviations(scores) == pytest.approx(0.5 + (scores - 4) / (6 * deviation), rel=1e-15)
    assert none(scores).tolist() == [10.0, 4.0, 2.0, 0.0]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((None, None), [1.0, 0.5, 0.0]),
        ((0.0, None), [1.0, 0.75, 0.5]),
        ((None, 6.0), [0.5, 0.25, 0.0]),
        ((0.0, 8.0), [0.5, 0.375, 0.25]),
        ((3.0, 3.5), [1.0, 0.5, 0.0]),  # inside the hits' own range: it isn't narrowed
        ((-5.0, -4.0), [1.0, 8 / 9, 7 / 9]),
    ],
)
def test_bounds_by_hand(bounds: tuple[float | None, float | None], expected: list[float]) -> None:
    assert min_max(np.array([4.0, 3.0, 2.0]), Scaling(bounds=bounds)).tolist() == expected


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [((None, 1.0), 1.0), ((0.0, None), 1.0), ((0.0, 1.0), 0.5), ((0.5, 1.0), 0.0), ((0.5, None), 1.0)],
)
def test_bounds_of_a_single_hit(bounds: tuple[float | None, float | None], expected: float) -> None:
    """Only a lower bound gives something to measure it from."""
    assert min_max(np.array([0.5]), Scaling(bounds=bounds)).tolist() == [expected]


@pytest.mark.parametrize("technique", [min_max, l2, z_score, three_deviations])
def test_a_range_wider_than_a_float_holds(technique: Normalization) -> None:
    scores = np.array([1.7e308, 0.0, -1.7e308])
    expected = technique(np.array([1.0, 0.0, -1.0]), Scaling())
    assert technique(scores, Scaling()) == pytest.approx(expected, rel=1e-15, abs=1e-15)


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


@pytest.mark.parametrize("name", TECHNIQUES)
@given(scores=st.lists(finite, min_size=1, max_size=30))
@settings(deadline=None)
def test_monotone(name: str, scores: list[float]) -> None:
    normalized = TECHNIQUES[name](np.array(scores), Scaling())
    assert np.isfinite(normalized).all()
    ordered = normalized[np.argsort(scores)]
    assert (ordered[1:] >= ordered[:-1]).all()


@pytest.mark.parametrize("name", ["min_max", "l2", "z_score", "dbsf"])
@given(scores=st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=30, unique=True))
@settings(deadline=None)
def test_better_scores_stay_apart(name: str, scores: list[int]) -> None:
    ordered = TECHNIQUES[name](np.array(sorted(scores), dtype=np.float64), Scaling())
    assert (ordered[1:] > ordered[:-1]).all()


@given(scores=st.lists(finite, min_size=1, max_size=30))
@settings(deadline=None)
def test_bounded(scores: list[float]) -> None:
    scaled = min_max(np.array(scores))
    assert (scaled.max(), scaled.min() >= 0.0) == (1.0, True)
    assert softmax(np.array(scores)).sum() == pytest.approx(1.0)
    assert np.square(l2(np.array(scores))).sum() == pytest.approx(1.0)
    assert z_score(np.array(scores)).min() >= 0.0
    assert three_deviations(np.array(scores)).mean() == pytest.approx(0.5)
    assert none(np.array(scores)).tolist() == scores


@pytest.mark.parametrize("name", ["min_max", "z_score", "dbsf"])
@given(scores=st.lists(float32, min_size=1, max_size=30), slope=slopes, shift=shifts)
@settings(deadline=None)
def test_scale_and_shift_make_no_difference(
    name: str, scores: list[float], slope: float, shift: float
) -> None:
    values = np.array(scores)
    other = slope * values + shift
    assume(len(set(other)) == len(set(scores)))  # else floats don't tell apart what were different scores
    found = TECHNIQUES[name](other, Scaling())
    assert found == pytest.approx(TECHNIQUES[name](values, Scaling()), rel=1e-6, abs=1e-6)


@given(scores=st.lists(float32, min_size=1, max_size=30), slope=slopes)
@settings(deadline=None)
def test_scale_makes_no_difference_to_l2(scores: list[float], slope: float) -> None:
    values = np.array(scores)
    assert l2(slope * values) == pytest.approx(l2(values), rel=1e-12)


@given(scores=st.lists(float32, min_size=1, max_size=30), shift=shifts)
@settings(deadline=None)
def test_shift_makes_no_difference_to_softmax(scores: list[float], shift: float) -> None:
    values = np.array(scores)
    assert softmax(values + shift) == pytest.approx(softmax(values), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", TECHNIQUES)
@given(data=st.data(), scores=st.lists(finite, min_size=1, max_size=30))
@settings(deadline=None)
def test_the_order_of_hits_makes_no_difference(name: str, data: st.DataObject, scores: list[float]) -> None:
    order = data.draw(st.permutations(range(len(scores))))
    normalized = TECHNIQUES[name](np.array(scores), Scaling())
    shuffled = TECHNIQUES[name](np.array(scores)[order], Scaling())
    assert shuffled.tolist() == pytest.approx(normalized[order].tolist(), rel=1e-12, abs=1e-15)
