"""What is said of a filter's fields that no mapping has."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.deploy.cli.unmapped import unmapped

PHASE: dict[str, Any] = {"properties": {"phase": {"type": "keyword"}}}
OTHER: dict[str, Any] = {
    "properties": {
        "title": {"type": "text", "fields": {"keyword": {"type": "keyword"}}},
        "sponsor": {"properties": {"name": {"type": "keyword"}}},
        "labels": {"type": "flat_object"},
        "year": {"type": "alias", "path": "start"},
    },
    "derived": {"decade": {"type": "keyword"}},
}


@pytest.mark.parametrize(
    "filter",
    [
        {"term": {"phase": {"value": "2", "boost": 2}}},
        {"exists": {"field": "sponsor"}},
        {"exists": {"field": "spon*"}},
        {"terms": {"title.keyword": ["a"], "boost": 1}},
        {"range": {"year": {"gte": 2000}}},
        {"term": {"labels.priority": "high"}},
        {"term": {"decade": "1990s"}},
        {"ids": {"values": ["phse"]}},
        {"term": {"_index": "trials"}},
        {"query_string": {"query": "phse:2"}},
        {"bool": {"must_not": "no query"}},
    ],
)
def test_what_is_mapped_or_may_be_is_no_matter(filter: dict[str, Any]) -> None:
    """The one index has it, or the other."""
    assert unmapped(filter, [PHASE, OTHER]) == []


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("phse", ": did you mean 'phase'?"),
        ("phase.keyword", ": did you mean 'phase'?"),
        ("title.keywrd", ": did you mean 'title.keyword'?"),
        ("sponsor.nme", ": did you mean 'sponsor.name'?"),
        ("spnsor.name", ": did you mean 'sponsor.name'?"),
        ("zzz", ""),
    ],
)
def test_what_is_not_mapped_is_told_once_with_what_is_like_it(name: str, meant: str) -> None:
    clause = {"term": {name: "2"}}
    filter = {"bool": {"should": [clause, clause], "must_not": [{"exists": {"field": name}}]}}
    assert unmapped(filter, [PHASE, OTHER]) == [f"no field {name!r} in the mapping{meant}"]


def test_an_index_without_a_mapping() -> None:
    assert unmapped({"term": {"phase": "2"}}, [{}]) == ["no field 'phase' in the mapping"]
