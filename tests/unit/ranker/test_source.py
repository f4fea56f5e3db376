from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.source import joined_without_vectors, without_vectors


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({}, {"excludes": ["v"]}),
        ({"_source": True}, {"excludes": ["v"]}),
        ({"_source": "title"}, {"includes": ["title"], "excludes": ["v"]}),
        ({"_source": ["title", "arm.*"]}, {"includes": ["title", "arm.*"], "excludes": ["v"]}),
        ({"_source": ["*"]}, {"includes": ["*"], "excludes": ["v"]}),
        ({"_source": ["title", "v"]}, {"includes": ["title", "v"], "excludes": []}),
        ({"_source": {"includes": ["v"]}}, {"includes": ["v"], "excludes": []}),
        ({"_source": {"include": "title"}}, {"includes": ["title"], "excludes": ["v"]}),
        ({"_source": {"excludes": "notes"}}, {"excludes": ["notes", "v"]}),
        ({"_source": {"excludes": ["v"]}}, {"excludes": ["v"]}),
        ({"_source": []}, {"excludes": ["v"]}),
    ],
)
def test_vectors_and_nothing_else_are_left_out(asked: dict[str, Any], sent: dict[str, Any]) -> None:
    body = {"size": 1, **asked}
    assert without_vectors(body, ["v"]) == {"size": 1, "_source": sent}


def test_stored_fields_with_the_source() -> None:
    body = {"stored_fields": ["_source"]}
    assert without_vectors(body, ["v"]) == {**body, "_source": {"excludes": ["v"]}}


@pytest.mark.parametrize("kind", ["has_child", "has_parent"])
def test_inner_hits_of_joined_documents_leave_vectors_out(kind: str) -> None:
    def joined(inner_hits: dict[str, Any]) -> dict[str, Any]:
        return {"bool": {"must": [{kind: {"query": {"match_all": {}}, "inner_hits": inner_hits}}]}}

    assert joined_without_vectors(joined({"size": 1}), ["v"]) == joined(
        {"size": 1, "_source": {"excludes": ["v"]}}
    )
    assert joined_without_vectors(joined({}), []) == joined({})
    nested = {"nested": {"path": "p", "query": {"match_all": {}}, "inner_hits": {}}}
    assert joined_without_vectors(nested, ["v"]) == nested


def test_no_source_stays_none() -> None:
    assert without_vectors({"_source": False}, ["v"]) == {"_source": False}
    assert without_vectors({"stored_fields": ["title"]}, ["v"]) == {"stored_fields": ["title"]}
    assert without_vectors({"size": 1}, []) == {"size": 1}


def test_a_part_of_the_marks_may_be_named() -> None:
    named = without_vectors({"_source": ["title", "trifuse.record"]}, ["trifuse", "v"])
    assert named["_source"] == {"includes": ["title", "trifuse.record"], "excludes": ["v"]}
