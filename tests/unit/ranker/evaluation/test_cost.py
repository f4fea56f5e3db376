"""Paired timings, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.ranker.evaluation.cost import timed


def test_what_a_leg_adds() -> None:
    """10, 20, 30, 40 ms without; 1, 2, 3 and 10 ms more with: the p50 are 25 and 27.5, and half of the
    searches take up to 2.5 ms more."""
    without = np.array([[10.0, 20.0], [30.0, 40.0]])
    found = timed(without + np.array([[1.0, 2.0], [3.0, 10.0]]), without, resamples=200)
    p50, mean = found["p50"], found["mean"]
    assert (p50.without_ms, p50.with_ms, p50.added_ms) == (25.0, 27.5, 2.5)
    assert p50.ratio == pytest.approx(1.1)
    assert (mean.without_ms, mean.with_ms, mean.added_ms) == (25.0, 29.0, 4.0)
    # A quarter of the resamples is the first query twice, a quarter the second twice.
    assert mean.added_ci95 == (1.5, 6.5)
    assert mean.ratio_ci95 == (pytest.approx(16.5 / 15), pytest.approx(41.5 / 35))
    assert found["p95"].without_ms == pytest.approx(38.5)  # 30 + 0.85 · 10
    assert set(p50.as_dict()) == {"with_ms", "without_ms", "added_ms", "added_ci95", "ratio", "ratio_ci95"}


@pytest.mark.parametrize("shape", [(0, 2), (2, 1), (4,)])
def test_what_isnt_paired_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected two tables"):
        timed(np.ones(shape), np.ones((2, 2)) if shape != (0, 2) else np.ones(shape))
