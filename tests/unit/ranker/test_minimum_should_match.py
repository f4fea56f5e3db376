from __future__ import annotations

import pytest

from trifuse.ranker.minimum_should_match import required_matches


@pytest.mark.parametrize(
    ("value", "clauses", "least"),
    [
        (None, 3, 0),
        (2, 3, 2),
        ("2", 3, 2),
        (-1, 3, 2),
        (-5, 3, 0),
        (5, 3, 5),  # more than there are: nothing matches
        ("75%", 4, 3),
        ("75%", 3, 2),  # 2.25
        ("-25%", 4, 3),
        ("-25%", 3, 3),  # 0.75 may be missing: none
        ("0%", 3, 0),
        ("100%", 3, 3),
        ("2<75%", 2, 2),  # up to two: all
        ("2<75%", 4, 3),
        ("2<-25% 9<-3", 4, 3),
        ("2<-25% 9<-3", 12, 9),
        ("3 < 90%", 10, 9),
        ("1  <\t100%", 3, 3),
        ("-0", 3, 0),  # none may be missing is written 100%
        ("-0%", 3, 0),
        ("many", 3, 0),
    ],
)
def test_as_in_the_manual(value: object, clauses: int, least: int) -> None:
    assert required_matches(value, clauses) == least
