from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.body import read_body
from trifuse.ranker.errors import BodyError
from trifuse.ranker.page import collapse, group_values, page_body, shows_query
from trifuse.ranker.types import Key

QUERY = {"match": {"title": "asthma"}}


def test_a_page_is_fetched_by_the_users_query_and_by_its_ids() -> None:
    user = read_body({"query": QUERY, "highlight": {"fields": {"title": {}}}, "aggs": {}}, depth=100)
    here = {"bool": {"filter": [{"term": {"_index": "i"}}, {"ids": {"values": ["2", "1"]}}]}}
    assert page_body(user, QUERY, [Key("2", "i"), Key("1", "i")], ["v"], size=2) == {
        "size": 2,
        "query": {"bool": {"filter": [here], "should": [QUERY]}},
        "track_total_hits": False,
        "highlight": {"fields": {"title": {}}},
        "_source": {"excludes": ["v"]},
    }


def test_a_page_of_two_indices_names_them() -> None:
    user = read_body({}, depth=100)
    body = page_body(user, None, [Key("1", "i"), Key("1", "j"), Key("2", "j")], [], size=3)
    (restricted,) = body["query"]["bool"]["filter"]
    assert restricted == {
        "bool": {
            "should": [
                {"bool": {"filter": [{"term": {"_index": "i"}}, {"ids": {"values": ["1"]}}]}},
                {"bool": {"filter": [{"term": {"_index": "j"}}, {"ids": {"values": ["1", "2"]}}]}},
            ],
            "minimum_should_match": 1,
        }
    }
    assert "should" not in body["query"]["bool"]


def hit(id: str, *groups: Any) -> dict[str, Any]:
    return {"_index": "i", "_id": id, **({"fields": {"g": list(groups)}} if groups else {})}


def test_f11_collapse_keeps_the_best_of_each_group() -> None:
    hits = [hit("1", "x"), hit("2", "y"), hit("3", "x"), hit("4"), hit("5"), hit("1", "x")]
    groups = group_values(hits, "g")
    ranked = [Key(id, "i") for id in "32154"]
    assert [ranked[place].id for place in collapse(ranked, groups)] == ["3", "2", "5"]


def test_f11_collapse_on_several_values_is_refused_as_by_opensearch() -> None:
    with pytest.raises(BodyError, match="document '1' has 2 values"):
        group_values([hit("1", "x", "y")], "g")


@pytest.mark.parametrize(
    ("page", "query", "shown"),
    [
        ({}, QUERY, False),
        ({"_source": ["title"], "fields": ["title"], "version": True}, QUERY, False),
        ({"explain": False}, QUERY, False),
        ({"explain": True}, QUERY, True),
        ({"highlight": {"fields": {"title": {}}}}, QUERY, True),
        ({"script_fields": {"s": {"script": "_score"}}}, QUERY, True),
        ({"search_pipeline": "mine"}, QUERY, True),
        ({}, {"bool": {"should": [{"match": {"title": {"query": "asthma", "_name": "t"}}}]}}, True),
        ({}, {"nested": {"path": "arms", "query": QUERY, "inner_hits": {}}}, True),
        ({}, {"percolate": {"field": "q", "document": {}}}, True),
        ({}, {"wrapper": {"query": "e30="}}, True),
        ({}, None, False),
    ],
)
def test_a_page_is_fetched_by_the_query_only_where_a_hit_may_show_it(
    page: dict[str, Any], query: dict[str, Any] | None, shown: bool
) -> None:
    assert shows_query(read_body(page, depth=100), query) is shown
