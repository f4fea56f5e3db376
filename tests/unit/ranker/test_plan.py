from __future__ import annotations

from typing import Any

from trifuse.ranker.body import read_body
from trifuse.ranker.plan import FilterPlan, plan_filters
from trifuse.ranker.target import Target

TEXT = {"match": {"title": "asthma"}}
A, B, C = ({"term": {"f": value}} for value in "abc")
PERCOLATE: dict[str, Any] = {"percolate": {}}


def plan(body: dict[str, Any], given: Any = None, alias: Any = None) -> FilterPlan:
    target = Target("i", frozenset({"i"}), alias, {}, frozenset({"title"}), frozenset({"title"}))
    return plan_filters(read_body(body, depth=100), target, given)


def test_every_source_of_filters_holds() -> None:
    found = plan({"query": {"bool": {"must": [TEXT, A]}}, "post_filter": B}, given=C, alias=B)
    assert found.clause == {"bool": {"filter": [C, B, A]}}
    assert found.as_dict() == {
        "given": C,
        "alias": B,
        "post_filter": B,
        "lifted": [A],
        "not_lifted": [],
        "rescored_only": False,
    }


def test_nothing_required() -> None:
    assert plan({"query": TEXT}).clause is None
    assert plan({}).clause is None


def test_f16_without_a_given_filter_the_query_itself_bounds_the_other_legs() -> None:
    query = {"bool": {"must": [TEXT, A, PERCOLATE]}}
    found = plan({"query": query}, alias=B)
    assert found.clause == {"bool": {"filter": [B, query]}}
    assert found.as_dict()["rescored_only"] is True
    assert found.not_lifted == ("query.bool.must[2]: percolate",)


def test_f16_a_given_filter_stands_for_what_cannot_be_lifted() -> None:
    found = plan({"query": {"bool": {"must": [TEXT, A, PERCOLATE]}}}, given=C)
    assert found.clause == {"bool": {"filter": [C, A]}}
    assert found.as_dict()["rescored_only"] is False
    assert found.not_lifted == ("query.bool.must[2]: percolate",)
