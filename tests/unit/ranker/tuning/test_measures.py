"""Measures of many rankings at once, against ir-measures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.ranker.errors import MeasureUnknown
from trifuse.ranker.evaluation.measures import measure_run
from trifuse.ranker.tuning.measures import ABSENT, UNJUDGED, Measure

NAMES = (
    "nDCG@10",
    "nDCG@3",
    "nDCG",
    "RR",
    "RR@2",
    "RR(rel=2)",
    "P@5",
    "P(rel=2)@3",
    "R@5",
    "R(rel=2)@4",
    "AP",
    "AP@3",
    "AP(rel=2)",
    "Judged@10",
    "Judged@3",
)


def grades(ranking: list[str], judged: dict[str, int], ranks: int) -> np.ndarray:
    row = [judged.get(document, UNJUDGED) for document in ranking]
    return np.array([row + [ABSENT] * (ranks - len(row))], np.int32)


def test_ndcg_by_hand() -> None:
    """Grades 0, 2, 1 at ranks 1, 2, 3: (2/log2(3) + 1/2) / (2 + 1/log2(3)) = 1.7619 / 2.6309."""
    found = grades(["a", "b", "c"], {"a": 0, "b": 2, "c": 1}, 3)
    value = Measure.parse("nDCG@10").values(found, {"a": 0, "b": 2, "c": 1})
    assert value.tolist() == pytest.approx([(2 / np.log2(3) + 0.5) / (2 + 1 / np.log2(3))])


@pytest.mark.parametrize(
    ("name", "value"),
    [("RR", 1 / 2), ("P@4", 2 / 4), ("R@2", 1 / 3), ("AP", (1 / 2 + 2 / 3) / 3), ("Judged@4", 1.0)],
)
def test_the_others_by_hand(name: str, value: float) -> None:
    """Of three relevant documents two are found, at ranks 2 and 3 of 3."""
    judged = {"a": 0, "b": 1, "c": 2, "d": 1}
    assert Measure.parse(name).values(grades(["a", "b", "c"], judged, 4), judged).tolist() == [value]


@given(
    st.dictionaries(st.sampled_from("abcdefghijkl"), st.integers(0, 3), min_size=1).filter(
        lambda judged: any(judged.values())
    ),
    st.lists(st.permutations("abcdefghijklmnop").map(lambda row: row[:12]), min_size=1, max_size=3),
    st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_they_are_those_of_ir_measures(
    judged: dict[str, int], rankings: list[list[str]], length: int
) -> None:
    cut = [list(ranking[:length]) for ranking in rankings]
    found = np.concatenate([grades(ranking, judged, 14) for ranking in cut])
    for name in NAMES:
        ours = Measure.parse(name).values(found, judged)
        theirs = [measure_run([name], {"q": judged}, {"q": ranking})[name]["q"] for ranking in cut]
        assert ours.tolist() == pytest.approx(theirs, abs=1e-9), name


def test_other_names_that_ir_measures_takes_are_the_same_measures() -> None:
    assert Measure.parse("MAP") == Measure.parse("AP")
    assert Measure.parse("MRR@10") == Measure.parse("RR@10")


@pytest.mark.parametrize(
    "name", ["ERR@10", "nDCG@0", "P", "R", "nDCG(rel=2)@10", "P(rel=0)@5", "", "ndcg@10"]
)
def test_what_cannot_be_tuned_by_is_refused(name: str) -> None:
    with pytest.raises(MeasureUnknown, match=r"give one of nDCG@10"):
        Measure.parse(name)
