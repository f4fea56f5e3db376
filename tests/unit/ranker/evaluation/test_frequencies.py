"""Segments from frequencies; what the click store says is tested with a real one."""

from __future__ import annotations

import pytest

from trifuse.ranker.errors import UnreadableInput
from trifuse.ranker.evaluation.frequencies import of_queries, query_segments


def test_segments_at_their_bounds_with_and_without_the_query_itself() -> None:
    frequencies = {"a": 45, "b": 44, "c": 6, "d": 5, "e": 0, "f": "HEAD"}
    kept, left_out = query_segments(frequencies), query_segments(frequencies, leave_one_out=True)
    assert list(kept.values()) == ["HEAD", "TORSO", "TORSO", "TAIL", "TAIL", "HEAD"]
    assert list(left_out.values()) == ["TORSO", "TORSO", "TAIL", "TAIL", "TAIL", "HEAD"]


def test_a_file_has_to_have_every_evaluated_query() -> None:
    assert of_queries({"b": 2, "a": 1, "z": 9}, {"a": "x", "b": "y"}) == {"a": 1, "b": 2}
    with pytest.raises(UnreadableInput, match=r"lack 1 of the 2 evaluated queries, such as 'b'"):
        of_queries({"a": 1}, {"a": "x", "b": "y"})
