"""What sentences are held to."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.errors import BodyError
from trifuse.ranker.sentence_filters import of_document, of_sections, repeated, with_filters

DOCUMENT = {"term": {"parent_id": "7"}}
CLOSED = {"term": {"status": "closed"}}
KNOWN = frozenset({"status", "site.city", "year", "parent_id", "text"})


def test_a_document_and_its_routing() -> None:
    assert of_document("7") == [DOCUMENT]
    assert of_document("7", "a") == [DOCUMENT, {"term": {"parent_routing": "a"}}]


def test_a_section_and_what_is_below_it() -> None:
    assert of_sections([]) == []
    assert of_sections(["a", "b.c"]) == [
        {
            "bool": {
                "should": [
                    {"terms": {"section": ["a", "b.c"]}},
                    {"prefix": {"section": "a."}},
                    {"prefix": {"section": "b.c."}},
                ]
            }
        }
    ]


@pytest.mark.parametrize(
    "filter",
    [
        CLOSED,
        {"match_all": {}},
        {"exists": {"field": "site.city"}},
        {"range": {"year": {"gte": 2000}}},
        {"bool": {"must_not": [CLOSED], "should": [{"terms": {"site.city": ["Oslo"], "boost": 2}}]}},
        {"constant_score": {"filter": {"bool": {"filter": CLOSED}}}},
    ],
)
def test_a_filter_of_repeated_fields_holds_for_sentences(filter: dict[str, Any]) -> None:
    assert repeated(filter, [KNOWN, KNOWN | {"more"}], alias="mine") == filter


@pytest.mark.parametrize(
    ("filter", "what"),
    [
        ({"term": {"tenant": "a"}}, "is on 'tenant'"),
        ({"bool": {"must_not": {"term": {"tenant": "a"}}}}, "is on 'tenant'"),
        ({"exists": {"field": "tenant"}}, "is on 'tenant'"),
        ({"term": {"more": 1}}, "is on 'more'"),
        ({"match": {"text": "stroke"}}, "is on 'text'"),
        ({"term": {"parent_id": "7"}}, "is on 'parent_id'"),
        ({"term": {"_index": "notes"}}, "is on '_index'"),
        ({"ids": {"values": ["7"]}}, "has a query that only its documents can answer"),
        ({"nested": {"path": "site", "query": CLOSED}}, "has a query that only"),
        ({"query_string": {"query": "status:closed"}}, "has a query that only"),
        ({}, "has a query that only"),
    ],
)
def test_a_filter_that_sentences_may_answer_otherwise_is_refused(filter: dict[str, Any], what: str) -> None:
    with pytest.raises(BodyError, match=f"'mine' is an alias whose filter {what}.*--filters FIELD"):
        repeated(filter, [KNOWN, KNOWN | {"more"}], alias="mine")


def test_clauses_stand_beside_a_body_without_a_query() -> None:
    assert with_filters({"size": 3}, None, [DOCUMENT]) == ({"size": 3}, {"bool": {"filter": [DOCUMENT]}})
    assert with_filters({}, CLOSED, [DOCUMENT]) == ({}, {"bool": {"filter": [CLOSED, DOCUMENT]}})


def test_clauses_stand_in_the_query_of_a_body_that_has_one() -> None:
    query = {"match": {"text": "stroke"}}
    within = {"bool": {"must": [query], "filter": [DOCUMENT]}}
    assert with_filters({"query": query}, None, [DOCUMENT]) == ({"query": within}, None)
    assert with_filters({"query": query}, CLOSED, [DOCUMENT]) == ({"query": within}, CLOSED)


def test_nothing_changes_without_clauses() -> None:
    body = {"query": {"match": {"text": "stroke"}}}
    assert with_filters(body, None, []) == (body, None)
    assert with_filters(body, CLOSED, []) == (body, CLOSED)
