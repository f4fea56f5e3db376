from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from trifuse.deploy.cli.hits import (
    filter_lines,
    hits_table,
    leg_lines,
    past_query_lines,
    profile_lines,
    query_lines,
    title_of,
)

LEG = {"score": 7.25, "normalized": 0.5, "weight": 0.4, "rank": 2}
RESPONSE: dict[str, Any] = {
    "took": 12,
    "hits": {
        "total": {"value": 42, "relation": "gte"},
        "hits": [
            {
                "_id": "NCT1",
                "_score": 0.2,
                "_source": {"title": "A [bold]trial[/bold]"},
                "trifuse": {"legs": {"lexical": LEG, "dense": None, "clicks": None}},
            }
        ],
    },
    "trifuse": {
        "legs": {
            "lexical": {"state": "ok", "reason": None, "took_ms": 3, "hits": 1},
            "dense": {"state": "off", "reason": "no encoder", "took_ms": 0, "hits": 0},
        },
        "filter": {
            "given": None,
            "alias": {"term": {"t": 1}},
            "post_filter": None,
            "lifted": [],
            "not_lifted": ["query: wrapper"],
            "rescored_only": True,
        },
    },
}


def shown(*renderables: Any) -> str:
    stream = io.StringIO()
    console = Console(file=stream, width=100)
    for each in renderables:
        console.print(each)
    return stream.getvalue()


def test_what_a_server_that_fused_does_not_tell() -> None:
    told = {"score": 7.25, "normalized": None, "weight": 0.4, "rank": None}
    hit = {**RESPONSE["hits"]["hits"][0], "trifuse": {"legs": {"lexical": told}}}
    legs = {"lexical": {"state": "ok", "reason": None, "took_ms": 3, "hits": None}}
    response = {
        **RESPONSE,
        "hits": {**RESPONSE["hits"], "hits": [hit]},
        "trifuse": {"execution": "native", "note": "OpenSearch fused the legs", "legs": legs},
    }
    text = shown(hits_table(response, explain=True), *leg_lines(response), *profile_lines(response))
    assert "OpenSearch fused the legs" in text
    assert "lexical  ok  3 ms" in text
    assert " 7.25 " in text
    assert "None" not in text
    assert "normalised" not in text


def test_the_past_queries_that_clicks_came_from() -> None:
    queries = [
        {"text": "stroke", "similarity": 1.0, "weight": 0.7},
        {"text": "brain attack", "similarity": 0.84, "weight": 0.3},
    ]
    explained = {"trifuse": {"legs": {"clicks": {"queries": queries}}}}
    assert "'stroke' 1.00, 'brain attack' 0.84" in shown(*past_query_lines(explained))
    assert past_query_lines({"trifuse": {"legs": {"clicks": {}}}}) == []


def test_how_frequent_the_query_is() -> None:
    assert "the click log has 7 clicks for this query (TORSO)" in shown(
        *query_lines({"trifuse": {"query": {"frequency": 7, "segment": "TORSO"}}})
    )
    assert query_lines({"trifuse": {"query": {"frequency": None, "segment": None}}}) == []


def test_a_row_a_hit() -> None:
    text = shown(hits_table(RESPONSE, start=10))
    assert "at least 42 hits, 12 ms" in text
    assert "11" in text
    assert "A [bold]trial[/bold]" in text
    assert "#2  7.25" in text
    assert "0.40 x 0.500" not in text
    explained = shown(hits_table(RESPONSE, explain=True))
    assert "0.40 x 0.500" in explained
    assert "weight x its score normalised" in explained


def test_no_total_and_no_source() -> None:
    hit = {**RESPONSE["hits"]["hits"][0]}
    del hit["_source"]
    text = shown(hits_table({**RESPONSE, "hits": {"hits": [hit]}}))
    assert "NCT1" in text


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ({"text": "b", "title": "a"}, "a"),
        ({"code": "c", "brief_title": " of  two\nlines "}, "of two lines"),
        ({"n": 1, "code": "c"}, "c"),
        ({}, ""),
    ],
)
def test_titles(source: dict[str, Any], title: str) -> None:
    assert title_of(source) == title


def test_how_each_leg_fared() -> None:
    assert shown(*leg_lines(RESPONSE)).splitlines() == [
        "lexical  ok  1 hits, 3 ms",
        "dense    off: no encoder",
    ]


def test_filters() -> None:
    assert shown(*filter_lines(RESPONSE)).splitlines() == [
        'filter   alias: {"term": {"t": 1}}',
        "filter   not lifted: query: wrapper; other legs re-score lexical matches only",
    ]


def test_a_stored_profile_says_its_version_and_what_it_may_lack() -> None:
    assert profile_lines({"trifuse": {"profile": "default", "profile_version": None, "rule": None}}) == []
    told = {"profile": "mine", "profile_version": 3, "profile_note": "read 9 s ago", "rule": "short"}
    assert [line.plain for line in profile_lines({"trifuse": told})] == [
        "profile  mine, version 3",
        "profile  read 9 s ago",
        "rule     short",
    ]
    features = {"words": 2, "segment": None, "lexical_entropy": 0.83333, "dense_entropy": 1.0}
    (line,) = profile_lines({"trifuse": {"features": features}})
    assert line.plain == "rules go by words 2, lexical_entropy 0.833, dense_entropy 1"
