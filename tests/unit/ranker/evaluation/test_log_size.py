"""Shares of the log as runs, and the lines that they make."""

from __future__ import annotations

import pytest

from trifuse.ranker import Profile
from trifuse.ranker.errors import ProfileError
from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.log_size import parse_shares, share_runs, size_lines

QRELS = {"q1": {"a": 1}, "q2": {"a": 1}}


def test_runs_differ_in_the_share_alone() -> None:
    profile, without = Profile(name="lader", depth=50), Profile(name="none")
    runs = share_runs(profile, without, (0.5, 1.0))
    assert list(runs) == ["0 %", "50 %", "100 %"]
    assert runs["0 %"] is without
    assert [runs[name].clicks.log_share for name in ("50 %", "100 %")] == [0.5, 1.0]
    assert runs["50 %"].depth == 50


def test_a_line_for_all_and_one_a_segment() -> None:
    """RR: q1 is at 1/2, then 1; q2 at 1/4, then 1/2, then 1."""
    runs = {
        "0 %": {"q1": ["x", "a"], "q2": ["x", "y", "z", "a"]},
        "50 %": {"q1": ["a"], "q2": ["x", "a"]},
        "100 %": {"q1": ["a"], "q2": ["a"]},
    }
    lines = size_lines(evaluate(runs, QRELS, QRELS, ["RR"]), {"q1": "HEAD", "q2": "TAIL"}, "RR")
    assert {
        name: [(each.share, each.mean, each.difference) for each in line] for name, line in lines.items()
    } == {
        "ALL": [(0.0, 0.375, 0.0), (0.5, 0.75, 0.375), (1.0, 1.0, 0.625)],
        "HEAD": [(0.0, 0.5, 0.0), (0.5, 1.0, 0.5), (1.0, 1.0, 0.5)],
        "TAIL": [(0.0, 0.25, 0.0), (0.5, 0.5, 0.25), (1.0, 1.0, 0.75)],
    }
    assert lines["ALL"][0].ci95 == (0.25, 0.5)
    assert lines["ALL"][2].difference_ci95 == (0.5, 0.75)


@pytest.mark.parametrize("text", ["", "0,10", "101", "ten", "10,,20", "nan"])
def test_shares_that_are_none(text: str) -> None:
    with pytest.raises(ProfileError, match="percents such as"):
        parse_shares(text)
