"""Paths of text fields against mappings."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.indexer.attach.paths import Wrong, resolve
from trifuse.indexer.mapped import copied_from, count_fields, kept_in_source, leaves, lost_fields

MAPPINGS: dict[str, Any] = {
    "properties": {
        "title": {"type": "text", "copy_to": ["all"], "fields": {"raw": {"type": "keyword"}}},
        "year": {"type": "integer"},
        "all": {"type": "text"},
        "name": {"type": "alias", "path": "arms.label"},
        "arms": {"type": "nested", "properties": {"label": {"type": "text"}, "n": {"type": "integer"}}},
        "flag": {"type": "boolean"},
        "extra": {"type": "flat_object"},
        "vector": {"type": "knn_vector", "dimension": 3},
    }
}


@pytest.mark.parametrize(
    ("path", "resolved", "noted"),
    [
        ("title", "title", False),
        ("title.raw", "title", True),
        ("name", "arms.label", True),
        ("arms.label", "arms.label", False),
        ("year", "year", True),
        ("extra.note.text", "extra.note.text", True),
    ],
)
def test_resolved(path: str, resolved: str, noted: bool) -> None:
    found = resolve(path, MAPPINGS)
    assert (found.path, bool(found.note)) == (resolved, noted)


@pytest.mark.parametrize(
    ("path", "remedy"),
    [
        ("all", "name its sources: title"),
        ("arms", "name fields in it: arms.label,arms.n"),
        ("flag", "name fields of text"),
        ("extra", "name paths in it: extra.title"),
        ("vector", "name fields of text"),
        ("titles", "is title meant?"),
    ],
)
def test_wrong(path: str, remedy: str) -> None:
    with pytest.raises(Wrong) as caught:
        resolve(path, MAPPINGS)
    assert caught.value.remedy == remedy


def test_not_in_source() -> None:
    with pytest.raises(Wrong, match="_source"):
        resolve("title", {**MAPPINGS, "_source": {"excludes": ["ti*"]}})
    assert resolve("title", {**MAPPINGS, "_source": {"includes": ["title"]}}).path == "title"


@pytest.mark.parametrize(
    ("path", "source", "kept"),
    [
        ("a", {}, True),
        ("a.b", {"excludes": ["a"]}, False),
        ("a.b", {"includes": ["a.*"]}, True),
        ("c", {"includes": ["a.*"]}, False),
        ("a.b", {"includes": ["a.*"], "excludes": ["*.b"]}, False),
    ],
)
def test_kept_in_source(path: str, source: dict[str, Any], kept: bool) -> None:
    assert kept_in_source(path, source) is kept


def test_counts() -> None:
    """Eight fields at the top, one multi-field, two in the object."""
    assert count_fields(MAPPINGS["properties"]) == 11


def test_leaves_and_copies() -> None:
    named = [leaf.path for leaf in leaves(MAPPINGS["properties"])]
    below = ["arms.label", "arms.n"]
    assert named == ["title", "title.raw", "year", "all", "name", *below, "flag", "extra", "vector"]
    assert copied_from(MAPPINGS["properties"]) == {"all": ["title"]}


def test_lost_fields() -> None:
    assert lost_fields(MAPPINGS) == []
    assert lost_fields({**MAPPINGS, "_source": {"excludes": ["all", "raw", "other"]}}) == []
    assert lost_fields({**MAPPINGS, "_source": {"excludes": ["arms", "year"]}}) == [
        "year",
        "arms.label",
        "arms.n",
    ]
