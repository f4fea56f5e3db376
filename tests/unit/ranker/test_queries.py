from __future__ import annotations

from trifuse.ranker.queries import kind_of, walk, without_inner_hits


def test_walk_goes_where_queries_stand() -> None:
    query = {
        "bool": {
            "must": [{"match": {"knn": "a field of that name"}}],
            "should": {"dis_max": {"queries": [{"term": {"a": 1}}]}},
            "filter": [{"nested": {"path": "p", "query": {"exists": {"field": "p.x"}}}}],
            "must_not": [
                {"function_score": {"query": {"ids": {}}, "functions": [{"filter": {"range": {}}}]}}
            ],
        }
    }
    assert [(step.kind, step.path) for step in walk(query)] == [
        ("bool", "query"),
        ("match", "query.bool.must[0]"),
        ("nested", "query.bool.filter[0]"),
        ("exists", "query.bool.filter[0].nested.query[0]"),
        ("function_score", "query.bool.must_not[0]"),
        ("ids", "query.bool.must_not[0].function_score.query[0]"),
        ("range", "query.bool.must_not[0].function_score.functions[0].filter"),
        ("dis_max", "query.bool.should[0]"),
        ("term", "query.bool.should[0].dis_max.queries[0]"),
    ]


def test_walk_bears_anything() -> None:
    for query in (None, [], "x", {}, {"a": 1, "b": 2}, {"bool": None}, {"bool": {"must": [None, 3]}}):
        list(walk(query))


def test_kind_of() -> None:
    assert kind_of({"term": {"a": 1}}) == ("term", {"a": 1})
    assert kind_of({"term": {}, "match": {}}) is None
    assert kind_of(["term"]) is None


def test_inner_hits_are_left_out_of_copies_alone() -> None:
    query = {
        "bool": {"filter": [{"nested": {"path": "p", "inner_hits": {"name": "n"}, "query": {"term": {}}}}]}
    }
    assert without_inner_hits(query) == {
        "bool": {"filter": [{"nested": {"path": "p", "query": {"term": {}}}}]}
    }
    assert "inner_hits" in query["bool"]["filter"][0]["nested"]
    assert without_inner_hits({"term": {"inner_hits": 1}}) == {"term": {"inner_hits": 1}}
