from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

import pytest

from trifuse.ranker.filters import Lifted, all_of, lift

TENANT = {"term": {"tenant": "a"}}
OTHER = {"range": {"year": {"gte": 2000}}}
TEXT = {"match": {"title": "asthma"}}
HAS_PARENT = {"has_parent": {"parent_type": "t", "query": TENANT}}
ANY_PARENT = {"has_parent": {"parent_type": "t", "query": {"match_all": {}}}}
PERCOLATE = {"percolate": {"field": "query", "document": {}}}


def clauses(query: Any) -> list[Any]:
    found = lift(query)
    assert found.not_lifted == ()
    return list(found.clauses)


def test_f16_a_tenant_in_must_inside_function_score() -> None:
    query = {"function_score": {"query": {"bool": {"must": [TEXT, TENANT]}}, "functions": [{"weight": 2}]}}
    assert clauses(query) == [TENANT]


def test_f16_what_cannot_be_classified_is_named() -> None:
    query = {"bool": {"must": [TEXT, PERCOLATE, {"of_some_plugin": {}}], "filter": [TENANT]}}
    found = lift(query)
    assert found.clauses == (TENANT,)
    assert found.not_lifted == ("query.bool.must[1]: percolate", "query.bool.must[2]: of_some_plugin")


@pytest.mark.parametrize(
    ("query", "lifted"),
    [
        (TEXT, []),
        (TENANT, [TENANT]),
        ({"match_all": {}}, []),
        ({"bool": {}}, []),
        ({"bool": {"must": TENANT}}, [TENANT]),
        ({"bool": {"filter": TENANT, "must": [TEXT]}}, [TENANT]),
        # In filter context nothing scores: full text and unknown queries are copied as they are.
        ({"bool": {"filter": [TEXT, PERCOLATE]}}, [TEXT, PERCOLATE]),
        ({"bool": {"must": [TEXT], "must_not": [TENANT, TEXT]}}, [{"bool": {"must_not": [TENANT, TEXT]}}]),
        ({"bool": {"must": [{"bool": {"must": [{"bool": {"filter": [TENANT]}}]}}]}}, [TENANT]),
        # Optional clauses require nothing.
        ({"bool": {"must": [TEXT], "should": [TENANT]}}, []),
        ({"bool": {"must": [TEXT], "should": [TENANT], "minimum_should_match": 0}}, []),
        ({"bool": {"filter": [OTHER], "should": [TENANT, TEXT]}}, [OTHER]),
        ({"bool": {"must": [TEXT], "should": [PERCOLATE]}}, []),
        # The old name, which the server still reads.
        ({"bool": {"must": [TEXT], "mustNot": [TENANT]}}, [{"bool": {"must_not": [TENANT]}}]),
        (
            {"bool": {"must_not": [TENANT], "adjust_pure_negative": False}},
            [{"bool": {"must_not": [TENANT], "adjust_pure_negative": False}}],
        ),
        # Fewer optional clauses than must match: nothing does.
        ({"bool": {"must": [TEXT], "minimum_should_match": 2}}, [{"match_none": {}}]),
        ({"bool": {"should": [TEXT, TEXT], "minimum_should_match": 3}}, [{"match_none": {}}]),
        ({"bool": {"minimum_should_match": 2}}, []),
        # One of the alternatives must match.
        (
            {"bool": {"should": [TENANT, OTHER]}},
            [{"bool": {"should": [TENANT, OTHER], "minimum_should_match": 1}}],
        ),
        (
            {"bool": {"must": [TEXT], "should": [TENANT, OTHER], "minimum_should_match": "100%"}},
            [{"bool": {"should": [TENANT, OTHER], "minimum_should_match": 2}}],
        ),
        ({"bool": {"should": [TENANT, TEXT]}}, []),
        ({"bool": {"should": [PERCOLATE, TEXT]}}, []),
        # Two of three, of which one is full text: at least one of the other two.
        (
            {"bool": {"should": [TENANT, OTHER, TEXT], "minimum_should_match": 2}},
            [{"bool": {"should": [TENANT, OTHER], "minimum_should_match": 1}}],
        ),
        (
            {"bool": {"should": [{"bool": {"must": [TEXT], "filter": [TENANT, OTHER]}}, TENANT]}},
            [
                {
                    "bool": {
                        "should": [{"bool": {"filter": [TENANT, OTHER]}}, TENANT],
                        "minimum_should_match": 1,
                    }
                }
            ],
        ),
        (
            {"dis_max": {"queries": [{"bool": {"must": [TEXT], "filter": [TENANT]}}, TENANT]}},
            [{"bool": {"should": [TENANT, TENANT], "minimum_should_match": 1}}],
        ),
        ({"dis_max": {"queries": [TEXT, TENANT]}}, []),
        ({"constant_score": {"filter": TENANT, "boost": 2}}, [TENANT]),
        ({"constant_score": {"filter": TEXT}}, [TEXT]),
        ({"function_score": {"functions": [{"filter": TENANT, "weight": 3}]}}, []),
        ({"script_score": {"query": {"bool": {"must": [TEXT, TENANT]}}, "script": {}}}, [TENANT]),
        ({"boosting": {"positive": TENANT, "negative": OTHER, "negative_boost": 0.5}}, [TENANT]),
        (
            {"nested": {"path": "p", "query": {"bool": {"must": [TEXT, TENANT, OTHER]}}, "inner_hits": {}}},
            [{"nested": {"path": "p", "query": {"bool": {"filter": [TENANT, OTHER]}}}}],
        ),
        # There must be a nested or joined document, whatever its text.
        ({"nested": {"path": "p", "query": TEXT}}, [{"nested": {"path": "p", "query": {"match_all": {}}}}]),
        ({"has_parent": {"parent_type": "t", "query": TEXT}}, [ANY_PARENT]),
        ({"has_parent": {"parent_type": "t", "query": {"match_all": {}}}}, [ANY_PARENT]),
        (HAS_PARENT, [HAS_PARENT]),
        ({"simple_query_string": {"query": "asthma +adults"}}, []),
        ({"query_string": {"query": "asthma AND adults"}}, []),
        ({"multi_match": {"query": "asthma", "fields": ["title^3", "text"]}}, []),
    ],
)
def test_what_a_match_requires(query: dict[str, Any], lifted: list[Any]) -> None:
    assert clauses(query) == lifted


@pytest.mark.parametrize(
    "query",
    [
        {"terms": {"tenant": ["a", "b"]}},
        {"exists": {"field": "title"}},
        {"ids": {"values": ["1"]}},
        {"prefix": {"tenant": "a"}},
        {"wildcard": {"tenant": "a*"}},
        {"geo_distance": {"distance": "1km", "at": [0, 0]}},
        {"script": {"script": "true"}},
        {"match_none": {}},
        {"parent_id": {"type": "t", "id": "1"}},
    ],
)
def test_term_level_queries_are_filters_wherever_they_are_required(query: dict[str, Any]) -> None:
    assert clauses({"bool": {"must": [TEXT, query]}}) == [query]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"query_string": {"query": "+tenant:a asthma"}}, "query: query_string"),
        ({"wrapper": {"query": "e30="}}, "query: wrapper"),
        ({"bool": {"must_not": [], "should": [PERCOLATE]}}, "query.bool.should[0]: percolate"),
        ({"bool": {"of_some_version": [TENANT]}}, "query.bool.of_some_version"),
        ({"constant_score": {"filter": TENANT}, "term": {}}, "query: not one query"),
        ({"bool": {"must": ["asthma"]}}, "query.bool.must[0]: not one query"),
        ({"bool": None}, "query: bool"),
        ({"boosting": {"negative": TENANT}}, "query.boosting.positive: not one query"),
    ],
)
def test_what_cannot_be_classified(query: dict[str, Any], path: str) -> None:
    assert lift(query) == Lifted(not_lifted=(path,))


def test_what_cannot_be_classified_inside_another_document() -> None:
    found = lift({"nested": {"path": "p", "query": PERCOLATE}})
    assert found.clauses == ({"nested": {"path": "p", "query": {"match_all": {}}}},)
    assert found.not_lifted == ("query.nested.query: percolate",)


@pytest.mark.parametrize("kind", ["function_score", "script_score"])
def test_a_cut_by_score_is_a_requirement_that_no_filter_expresses(kind: str) -> None:
    assert lift({kind: {"query": TENANT, "min_score": 1}}) == Lifted((TENANT,), (f"query.{kind}.min_score",))


def test_an_escaped_colon_names_no_field() -> None:
    assert lift({"query_string": {"query": r"ratio 1\:2"}}) == Lifted()


@pytest.mark.parametrize(
    "query",
    [
        {"match": {"tenant": "a"}},
        {"match_phrase": {"tenant": {"query": "a"}}},
        {"multi_match": {"query": "a", "fields": ["tenant^2", "region"]}},
        {"simple_query_string": {"query": "a", "fields": ["tenant"]}},
        {"query_string": {"query": "a", "default_field": "tenant"}},
        {"query_string": {"query": "a", "default_field": "ten*"}},
    ],
)
def test_a_match_on_keywords_is_a_filter(query: dict[str, Any]) -> None:
    def is_text(field: str) -> bool:
        return fnmatchcase("title", field)

    assert lift({"bool": {"must": [TEXT, query]}}, is_text=is_text) == Lifted((query,))


@pytest.mark.parametrize(
    "query",
    [
        {"multi_match": {"query": "a", "fields": ["tenant", "title"]}},
        {"multi_match": {"query": "a", "fields": ["t*"]}},
        {"multi_match": {"query": "a"}},
        {"more_like_this": {"like": "a"}},
    ],
)
def test_a_match_that_reaches_text_is_full_text(query: dict[str, Any]) -> None:
    assert lift(query, is_text=lambda field: fnmatchcase("title", field)) == Lifted()


def test_f16_a_match_on_a_field_that_is_text_in_some_indices_only() -> None:
    def is_text(field: str) -> bool | None:
        return {"title": True, "tenant": None}.get(field, False)

    query = {"match": {"tenant": "a"}}
    assert lift({"bool": {"must": [TEXT, query]}}, is_text=is_text).not_lifted == (
        "query.bool.must[1]: match",
    )
    several = {"multi_match": {"query": "a", "fields": ["tenant", "title"]}}
    assert lift(several, is_text=is_text) == Lifted()
    assert lift({"nested": {"path": "p", "query": query}}, is_text=is_text).not_lifted


def test_all_of() -> None:
    assert all_of([]) is None
    assert all_of([TENANT]) == TENANT
    assert all_of([TENANT, OTHER]) == {"bool": {"filter": [TENANT, OTHER]}}


def test_a_filter_on_children_is_copied_with_its_bounds() -> None:
    query = {"has_child": {"type": "t", "max_children": 2, "query": TENANT, "inner_hits": {}}}
    assert clauses(query) == [{"has_child": {"type": "t", "max_children": 2, "query": TENANT}}]


def test_a_bound_from_above_on_children_is_not_copied() -> None:
    """More children may match the filter alone than match the query."""
    query = {"has_child": {"type": "t", "max_children": 2, "query": {"bool": {"must": [TEXT, TENANT]}}}}
    assert clauses(query) == [{"has_child": {"type": "t", "query": TENANT}}]
