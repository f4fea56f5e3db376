"""How long PINGs wait in the middle of reads."""

from __future__ import annotations

import pytest
from click_reads import longest_ms


def test_the_longest_wait_in_the_middle_of_each_and_their_median() -> None:
    # PINGs of 1 ms each, but one of 5 ms from 0.010 on, and one of 3 ms from 0.030 on
    pings = [(0.0, 0.001), (0.01, 0.015), (0.02, 0.021), (0.03, 0.033), (0.04, 0.041)]
    assert longest_ms([(0.005, 0.018)], pings) == pytest.approx(5.0)
    assert longest_ms([(0.012, 0.014)], pings) == pytest.approx(5.0)  # was under way
    assert longest_ms([(0.018, 0.022)], pings) == pytest.approx(1.0)
    assert longest_ms([(0.022, 0.023)], pings) == 0.0
    assert longest_ms([(0.005, 0.018), (0.02, 0.0205), (0.031, 0.035)], pings) == pytest.approx(3.0)
