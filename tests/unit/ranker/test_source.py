from __future__ import annotations

from typing import Any

import pytest

from trifuse.ranker.source import without_vectors


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


def test_no_source_stays_none() -> None:
    assert without_vectors({"_source": False}, ["v"]) == {"_source": False}
    assert without_vectors({"stored_fields": ["title"]}, ["v"]) == {"stored_fields": ["title"]}
    assert without_vectors({"size": 1}, []) == {"size": 1}
