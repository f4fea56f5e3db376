from __future__ import annotations

from trifuse.ranker.body import read_body
from trifuse.ranker.legs import (
    clicks_body,
    dense_body,
    dense_clause,
    filtered_query,
    lexical_body,
    text_query,
)

QUERY = {"match": {"title": "asthma"}}
FILTER = {"term": {"tenant": "a"}}
PLAIN = read_body({"query": QUERY}, depth=100)
LEG = {"_source": False, "search_pipeline": "_none"}


def test_the_lexical_leg_is_the_users_own_search() -> None:
    body = {
        "query": QUERY,
        "post_filter": FILTER,
        "aggs": {"n": {"terms": {"field": "n"}}},
        "track_total_hits": True,
        "timeout": "1s",
        "highlight": {"fields": {"title": {}}},
    }
    user = read_body(body, depth=100)
    assert lexical_body(user, QUERY, size=100, hidden=["v"]) == {
        **LEG,
        "size": 100,
        "query": QUERY,
        "post_filter": FILTER,
        "aggs": {"n": {"terms": {"field": "n"}}},
        "track_total_hits": True,
        "timeout": "1s",
    }


def test_a_given_filter_leaves_the_scores_of_the_lexical_leg() -> None:
    assert filtered_query(QUERY, None) is QUERY
    assert filtered_query(QUERY, FILTER) == {"bool": {"must": [QUERY], "filter": [FILTER]}}


def test_top_hits_come_without_vectors() -> None:
    aggs = {"n": {"terms": {"field": "n"}, "aggs": {"best": {"top_hits": {"size": 1}}}}}
    user = read_body({"query": QUERY, "aggs": aggs}, depth=100)
    sent = lexical_body(user, QUERY, size=0, hidden=["v"])["aggs"]
    assert sent["n"]["aggs"]["best"] == {"top_hits": {"size": 1, "_source": {"excludes": ["v"]}}}
    assert aggs["n"]["aggs"] == {"best": {"top_hits": {"size": 1}}}


def test_f12_the_filter_stands_inside_the_knn_clause() -> None:
    assert dense_clause("v", [1.0, 0.0], 5, FILTER) == {
        "knn": {"v": {"vector": [1.0, 0.0], "k": 5, "filter": FILTER}}
    }
    assert dense_clause("v", [1.0], 5, None, ignore_unmapped=True) == {
        "knn": {"v": {"vector": [1.0], "k": 5, "ignore_unmapped": True}}
    }


def test_the_other_legs() -> None:
    assert dense_body(PLAIN, {"knn": {}}, size=5) == {
        **LEG,
        "size": 5,
        "query": {"knn": {}},
        "track_total_hits": False,
    }
    ids = {"ids": {"values": ["1", "2"]}}
    clicks = clicks_body(PLAIN, ["1", "2"], FILTER, size=2)
    assert clicks["query"] == {"bool": {"filter": [ids, FILTER]}}
    assert clicks_body(PLAIN, ["1", "2"], None, size=2)["query"] == {"bool": {"filter": [ids]}}


def test_a_collapsed_search_reads_the_group_in_every_leg() -> None:
    user = read_body({"query": QUERY, "collapse": {"field": "g"}}, depth=100)
    for body in (
        lexical_body(user, QUERY, size=1, hidden=[]),
        dense_body(user, {}, size=1),
        clicks_body(user, ["1"], None, size=1),
    ):
        assert body["docvalue_fields"] == ["g"]
        assert "collapse" not in body


def test_the_text_query_names_the_embedded_fields() -> None:
    found = text_query("asthma", ["title", "text"])["multi_match"]
    assert (found["query"], found["fields"]) == ("asthma", ["title", "text"])
    assert "fields" not in text_query("asthma", [])["multi_match"]
