from __future__ import annotations

import pytest

from trifuse.ranker.fusion import LegHits
from trifuse.ranker.types import Key


def leg(**scores: float | None) -> LegHits:
    return LegHits.of((Key(id, "i"), score) for id, score in scores.items())


def test_best_first_ties_by_id_without_those_that_have_no_score() -> None:
    hits = leg(b=1.0, c=2.0, a=1.0, d=None, e=float("nan"))
    assert [key.id for key in hits.keys] == ["c", "a", "b"]
    assert hits.scores == (2.0, 1.0, 1.0)


def test_depth_cuts_after_ordering() -> None:
    pairs = [(Key("b", "i"), 1.0), (Key("a", "i"), 1.0), (Key("c", "i"), 2.0)]
    assert [each.id for each in LegHits.of(pairs, depth=2).keys] == ["c", "a"]


@pytest.mark.parametrize(
    ("floor", "kept"), [(0.61, 1), (0.6, 3), (-0.5, 4), (-9.0, 4), (0.9, 1), (0.91, 0), (0.0, 3)]
)
def test_hits_that_reach_a_floor(floor: float, kept: int) -> None:
    hits = leg(a=0.9, b=0.6, c=0.6, d=-0.5)
    assert hits.reaching(floor) == LegHits(hits.keys[:kept], hits.scores[:kept])


def test_a_floor_that_all_hits_reach_costs_no_copy() -> None:
    hits = leg(a=0.9)
    assert hits.reaching(0.9) is hits
    assert LegHits().reaching(0.0) == LegHits()
