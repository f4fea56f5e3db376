"""Paired ratios."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

RATIO = runpy.run_path(str(Path(__file__).parents[3] / "benchmarks" / "ratio.py"))


def test_the_median_of_the_pairs_and_not_the_ratio_of_the_medians() -> None:
    """Pairs 2, 3 and 1.5: the median is 2; the sides' medians are 6 and 3; the last pair was slow."""
    found = RATIO["summarize"]([(6.0, 3.0), (9.0, 3.0), (0.75, 0.5)])
    assert (found.ours, found.peer, found.ratio) == (6, 3, pytest.approx(2))
    assert 1.5 <= found.ci95[0] <= 2 <= found.ci95[1] <= 3


def test_equal_pairs_have_no_interval() -> None:
    assert RATIO["summarize"]([(3.0, 2.0)] * 10).ci95 == (1.5, 1.5)


def test_runs_are_interleaved_after_one_pair_to_warm_up() -> None:
    order: list[str] = []

    def side(name: str, rate: float):
        def measure() -> float:
            order.append(name)
            return rate

        return measure

    found = RATIO["paired_ratio"](side("ours", 4.0), side("peer", 2.0), 10)
    assert found.ratio == 2
    assert "".join(name[0] for name in order) == "op" + "poop" * 5


def test_fewer_than_ten_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 10"):
        RATIO["paired_ratio"](lambda: 1.0, lambda: 1.0, 9)
