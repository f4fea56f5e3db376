"""What is worse than the best by more than chance, of many settings."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.ranker.evaluation.significance import randomisation_p
from trifuse.ranker.tuning.equals import worse_p


def test_by_hand() -> None:
    """Three queries, each worse by the same: of the 8 signs one reaches the sum, so p is near 1/8."""
    values = np.array([[0.5, 0.5, 0.5], [0.4, 0.4, 0.4]])
    assert worse_p(values, 0)[0] == 1.0
    assert worse_p(values, 0, resamples=20_000)[1] == pytest.approx(1 / 8, abs=0.01)


def test_one_alone_has_half_of_the_two_sided_p() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal([[0.3], [0.25]], 0.1, (2, 40))
    one = worse_p(values, 0, resamples=20_000)[1]
    assert one == pytest.approx(randomisation_p((values[0] - values[1]).tolist()) / 2, abs=0.01)


def test_the_more_are_compared_the_less_is_significant() -> None:
    rng = np.random.default_rng(5)
    best = rng.uniform(0.2, 0.6, 60)
    others = best - rng.normal(0.02, 0.06, (200, 60))
    alone = worse_p(np.stack([best, others[0]]), 0)[1]
    among = worse_p(np.concatenate([[best], others]), 0)[1]
    assert alone < among <= 1


def test_copies_of_a_setting_cost_nothing() -> None:
    """Settings that are the same share their signs, so the largest of them is that of one."""
    rng = np.random.default_rng(6)
    best = rng.uniform(0.2, 0.6, 50)
    worse = best - rng.uniform(0.0, 0.08, 50) + 0.02
    alone = worse_p(np.stack([best, worse]), 0)[1]
    copies = worse_p(np.stack([best, *[worse] * 50]), 0)
    assert copies[1:].tolist() == [alone] * 50


def test_chance_is_rarely_taken_for_a_difference() -> None:
    """Of 100 tables of settings that differ by chance alone, about 5 have one below 0.05."""
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(100):
        values = rng.normal(0.4, 0.1, (12, 30))
        rejected += bool((worse_p(values, 0, resamples=400) < 0.05).any())
    assert rejected <= 12


def test_what_equals_the_best_on_every_query_is_not_worse() -> None:
    values = np.array([[0.5, 0.2], [0.5, 0.2]])
    assert worse_p(values, 0).tolist() == [1.0, 1.0]
