"""What a log adds per segment, worked out by hand."""

from __future__ import annotations

import json

import pytest

from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.segment_gains import segment_gains

QRELS = {f"q{number}": {"a": 1} for number in range(1, 5)}
HALF, FIRST, NOTHING = ["x", "a"], ["a"], ["x"]


def test_gains_of_all_and_of_each_segment() -> None:
    """RR from 1/2 to 1 in two HEAD queries; in TAIL one loses all, and one that had nothing gets 1/2."""
    runs = {
        "no-log": {"q1": HALF, "q2": HALF, "q3": FIRST, "q4": NOTHING},
        "log": {"q1": FIRST, "q2": FIRST, "q3": NOTHING, "q4": HALF},
    }
    segments = {"q1": "HEAD", "q2": "HEAD", "q3": "TAIL", "q4": "TAIL"}
    found = segment_gains(evaluate(runs, QRELS, QRELS, ["RR"]), segments)
    assert list(found) == ["ALL", "HEAD", "TAIL"]
    whole, head, tail = (found[name]["RR"] for name in found)
    assert (whole.queries, whole.against, whole.value, whole.difference) == (4, 0.5, 0.625, 0.125)
    assert (whole.relative, whole.wins, whole.losses) == (0.25, 3, 1)
    assert (head.queries, head.against, head.value, head.relative) == (2, 0.5, 1.0, 1.0)
    assert (tail.difference, tail.relative, tail.wins, tail.losses) == (-0.25, -0.5, 1, 1)
    assert head.p == 1.0  # ++ and -- of four signs is 1/2, twice that for two segments
    # All signs of 1/2, 1/2, 1, 1/2: sums of 1/2 or more in absolute value are all 16.
    assert whole.p == 1.0
    json.dumps(whole.as_dict())


def test_from_nothing_there_is_no_relative_gain() -> None:
    runs = {"no-log": {"q1": NOTHING}, "log": {"q1": FIRST}}
    found = segment_gains(evaluate(runs, QRELS, ["q1"], ["RR"]), {"q1": "TORSO"})
    assert found["TORSO"]["RR"].relative is None
    assert found["TORSO"]["RR"].difference == pytest.approx(1.0)
