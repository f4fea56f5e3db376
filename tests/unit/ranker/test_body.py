from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.body import LEXICAL_KEYS, OWN_KEYS, PAGE_KEYS, REFUSED, read_body
from trifuse.ranker.errors import BodyError

QUERY = {"match": {"title": "asthma"}}


def test_a_body_is_taken_apart() -> None:
    body = {
        "query": QUERY,
        "from": 20,
        "size": 5,
        "post_filter": {"term": {"a": 1}},
        "timeout": "2s",
        "aggs": {"n": {}},
        "highlight": {"fields": {}},
        "_source": False,
        "collapse": {"field": "group"},
    }
    user = read_body(body, depth=100)
    assert user.query is QUERY
    assert (user.start, user.size) == (20, 5)
    assert user.post_filter == {"term": {"a": 1}}
    assert user.collapse == "group"
    assert user.timeout == "2s"
    assert user.lexical == {"aggs": {"n": {}}}
    assert user.page == {"highlight": {"fields": {}}, "_source": False}


def test_an_empty_body_has_opensearchs_defaults() -> None:
    user = read_body({}, depth=100)
    assert (user.query, user.start, user.size, user.tracks_total) == (None, 0, 10, True)


def test_arguments_replace_the_bodys_page() -> None:
    user = read_body({"from": 1, "size": 2}, depth=100, start=3, size=4)
    assert (user.start, user.size) == (3, 4)


@pytest.mark.parametrize("key", sorted(REFUSED))
def test_f11_refused_keys_are_named(key: str) -> None:
    with pytest.raises(BodyError, match=f"'{key}' can't be used: "):
        read_body({"query": QUERY, key: {}}, depth=100)


@pytest.mark.parametrize("key", ["querry", "knn", "runtime_mappings", "rank"])
def test_f11_a_key_on_no_list_is_refused(key: str) -> None:
    with pytest.raises(BodyError, match=f"'{key}' is on no list"):
        read_body({key: {}}, depth=100)


def test_f11_no_key_is_on_two_lists() -> None:
    lists = [LEXICAL_KEYS, PAGE_KEYS, OWN_KEYS, frozenset(REFUSED)]
    assert sum(map(len, lists)) == len(frozenset.union(*lists))


def test_f11_every_key_of_the_case_is_on_a_list() -> None:
    case = "sort post_filter rescore collapse aggs aggregations search_after profile min_score timeout "
    case += "terminate_after suggest explain script_fields docvalue_fields highlight _source stored_fields "
    case += "indices_boost pit slice track_total_hits"
    assert set(case.split()) <= LEXICAL_KEYS | PAGE_KEYS | OWN_KEYS | set(REFUSED)


@pytest.mark.parametrize(
    "sort", ["_score", ["_score"], {"_score": "desc"}, [{"_score": {"order": "desc"}}], []]
)
def test_f11_a_sort_by_score_is_what_fusion_does(sort: Any) -> None:
    read_body({"sort": sort}, depth=100)


@pytest.mark.parametrize("sort", ["date", [{"date": "desc"}], ["_score", "date"], {"_score": "asc"}])
def test_f11_any_other_sort_is_refused(sort: Any) -> None:
    with pytest.raises(BodyError, match="it would replace the fused order"):
        read_body({"sort": sort}, depth=100)


@pytest.mark.parametrize(
    "rescore", [{"window_size": 50}, {}, [{"window_size": 200}, {"window_size": 10}], "x"]
)
def test_f11_a_rescore_within_the_depth_is_refused(rescore: Any) -> None:
    with pytest.raises(BodyError, match="window_size of 100 or more"):
        read_body({"rescore": rescore}, depth=100)


def test_f11_a_rescore_of_the_whole_leg_goes_with_it() -> None:
    assert read_body({"rescore": {"window_size": 100}}, depth=100).lexical == {
        "rescore": {"window_size": 100}
    }


@pytest.mark.parametrize(
    ("collapse", "message"),
    [
        ({"field": "g", "inner_hits": {"name": "n"}}, "'inner_hits'"),
        ({"field": "g", "max_concurrent_group_searches": 2}, "'max_concurrent_group_searches'"),
        ({}, "give"),
        ("g", "give"),
    ],
)
def test_f11_collapse_beyond_its_field_is_refused(collapse: Any, message: str) -> None:
    with pytest.raises(BodyError, match=message):
        read_body({"collapse": collapse}, depth=100)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ({"hybrid": {"queries": [QUERY]}}, "'hybrid' clause at query:"),
        ({"knn": {"v": {}}}, "'knn' clause at query:"),
        ({"neural": {"v": {}}}, "'neural' clause at query:"),
        ({"bool": {"should": [QUERY, {"knn": {}}]}}, r"'knn' clause at query.bool.should\[1\]:"),
        ({"function_score": {"query": {"neural_sparse": {}}}}, "'neural_sparse'"),
    ],
)
def test_f11_a_query_that_is_a_dense_leg_already_is_refused(query: Any, path: str) -> None:
    with pytest.raises(BodyError, match=path):
        read_body({"query": query}, depth=100)


@pytest.mark.parametrize("none", ["_none_", ["_none_"]])
def test_f11_stored_fields_none_is_refused(none: Any) -> None:
    with pytest.raises(BodyError, match="_none_"):
        read_body({"stored_fields": none}, depth=100)


@pytest.mark.parametrize("body", [[1], "query", 5])
def test_a_body_that_is_no_object_is_refused(body: Any) -> None:
    with pytest.raises(BodyError, match="give a JSON object"):
        read_body(body, depth=100)


def test_f9_a_page_beyond_the_depth_is_refused() -> None:
    read_body({"from": 95, "size": 5}, depth=100)
    with pytest.raises(BodyError, match="from \\+ size is 101, and the profile's depth is 100") as refused:
        read_body({"from": 96, "size": 5}, depth=100)
    assert refused.value.status == 400


@pytest.mark.parametrize("page", [{"from": -1}, {"size": -1}, {"size": "5"}, {"from": True}, {"size": 1.5}])
def test_a_page_that_is_none(page: dict[str, Any]) -> None:
    with pytest.raises(BodyError, match="give a whole number of 0 or more"):
        read_body(page, depth=100)


@pytest.mark.parametrize("key", ["query", "post_filter"])
def test_a_query_that_is_none(key: str) -> None:
    with pytest.raises(BodyError, match="as a JSON object"):
        read_body({key: ["match"]}, depth=100)
    with pytest.raises(BodyError, match="as a JSON object"):
        read_body({key: {}}, depth=100)


@pytest.mark.parametrize(("value", "wanted"), [(True, True), (False, False), (50, True)])
def test_track_total_hits(value: Any, wanted: bool) -> None:
    user = read_body({"track_total_hits": value}, depth=100)
    assert user.tracks_total is wanted
    assert user.lexical == {"track_total_hits": value}


@pytest.mark.parametrize("pipeline", ["mine", "_none", {"response_processors": []}])
def test_a_search_pipeline_goes_with_the_page(pipeline: Any) -> None:
    user = read_body({"search_pipeline": pipeline}, depth=100)
    assert (user.page, user.lexical) == ({"search_pipeline": pipeline}, {})


@pytest.mark.parametrize("pipeline", [3, None, ["mine"]])
def test_a_search_pipeline_that_is_none_is_refused(pipeline: Any) -> None:
    with pytest.raises(BodyError, match="give a pipeline's name, or itself"):
        read_body({"search_pipeline": pipeline}, depth=100)
