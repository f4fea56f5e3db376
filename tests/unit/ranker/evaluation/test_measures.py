"""Measures against values worked out by hand."""

from __future__ import annotations

import sys
from math import log2

import pytest

from trifuse.ranker.errors import ExtraMissing, MeasureUnknown
from trifuse.ranker.evaluation.measures import largest_cutoff, measure_run, parse_measures, split_names

QRELS = {"q": {"a": 2, "b": 1, "c": 0}}


def test_values_by_hand() -> None:
    """The ranking is x, b, a: gains 0, 1, 2 where 2, 1 would be ideal; ranks 2 and 3 are relevant."""
    names = ["nDCG@10", "nDCG@2", "RR", "R@2", "P@2", "AP", "Judged@2", "P(rel=2)@5", "RR@1"]
    found = measure_run(names, QRELS, {"q": ["x", "b", "a"]})
    ideal = 2 / log2(2) + 1 / log2(3)
    assert list(found) == names
    assert {name: values["q"] for name, values in found.items()} == pytest.approx(
        {
            "nDCG@10": (1 / log2(3) + 2 / log2(4)) / ideal,
            "nDCG@2": (1 / log2(3)) / ideal,
            "RR": 1 / 2,
            "R@2": 1 / 2,
            "P@2": 1 / 2,
            "AP": (1 / 2 + 2 / 3) / 2,
            "Judged@2": 1 / 2,
            "P(rel=2)@5": 1 / 5,
            "RR@1": 0.0,
        }
    )


@pytest.mark.parametrize("ranking", [["b", "z"], ["b", "a"], ["b", "0"]])
def test_the_order_that_was_served_is_measured(ranking: list[str]) -> None:
    """A tool that breaks ties by id would put another document first."""
    assert measure_run(["RR"], {"q": {"b": 1}}, {"q": ranking}) == {"RR": {"q": 1.0}}


def test_a_query_that_found_nothing_counts_as_zero() -> None:
    qrels = {"q": {"a": 1}, "none": {"a": 1}, "missing": {"a": 1}}
    found = measure_run(["nDCG@10", "Judged@10"], qrels, {"q": ["a"], "none": [], "unasked": ["a"]})
    assert found == {
        "nDCG@10": {"q": 1.0, "none": 0.0, "missing": 0.0},
        "Judged@10": {"q": 1.0, "none": 0.0, "missing": 0.0},
    }
    assert measure_run(["RR"], {"q": {"a": 1}}, {}) == {"RR": {"q": 0.0}}


def test_two_names_of_one_measure() -> None:
    assert measure_run(["AP", "MAP"], QRELS, {"q": ["a", "b"]}) == {"AP": {"q": 1.0}, "MAP": {"q": 1.0}}


@pytest.mark.parametrize("name", ["nDCG@ten", "nonsense", "nDCG@10)", "ERR@10", "alpha_nDCG@10", "", "P@-1)"])
def test_names_that_are_no_measure(name: str) -> None:
    with pytest.raises(MeasureUnknown, match="such as nDCG@10"):
        parse_measures([name])


def test_names_and_cutoffs() -> None:
    assert split_names(["nDCG@10,RR", " P(rel=2, judged_only=True)@5  RR"]) == (
        "nDCG@10",
        "RR",
        "P(rel=2, judged_only=True)@5",
    )
    assert largest_cutoff(["nDCG@10", "R@1000", "RR"]) == 1000
    assert largest_cutoff(["RR"]) == 0
    with pytest.raises(MeasureUnknown):
        parse_measures(split_names([" , "]))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(ExtraMissing, match=r"pip install 'trifuse\[tune\]'"):
        parse_measures(["RR"])
