"""Where queries stand inside a query, and what kinds there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

NEAREST = frozenset({"hybrid", "knn", "neural", "neural_sparse", "neural_knn", "agentic"})
"""Queries that are a dense leg or a fusion of their own."""

TERM_LEVEL = frozenset(
    {
        "distance_feature",
        "exists",
        "fuzzy",
        "geo_bounding_box",
        "geo_distance",
        "geo_polygon",
        "geo_shape",
        "ids",
        "match_none",
        "parent_id",
        "prefix",
        "range",
        "rank_feature",
        "regexp",
        "script",
        "term",
        "terms",
        "terms_set",
        "wildcard",
        "xy_shape",
    }
)
"""Queries that match or don't: whatever they score, it isn't full text."""

FULL_TEXT = frozenset(
    {
        "combined_fields",
        "common",
        "field_masking_span",
        "intervals",
        "match",
        "match_bool_prefix",
        "match_phrase",
        "match_phrase_prefix",
        "more_like_this",
        "multi_match",
        "query_string",
        "simple_query_string",
        "span_containing",
        "span_first",
        "span_multi",
        "span_near",
        "span_not",
        "span_or",
        "span_term",
        "span_within",
    }
)
"""Queries that analyse a text and score by it."""

JOINING = frozenset({"nested", "has_child", "has_parent"})
"""Queries about other documents than the hit itself."""

_ON_ONE_FIELD = frozenset(
    {"fuzzy", "match", "match_phrase", "prefix", "range", "regexp", "term", "terms", "wildcard"}
)
_NO_FIELD = frozenset({"_name", "boost"})

# Where the sub-queries of a compound query stand.
_POSITIONS = {
    "bool": ("must", "filter", "must_not", "mustNot", "should"),
    "boosting": ("positive", "negative"),
    "constant_score": ("filter",),
    "dis_max": ("queries",),
    "function_score": ("query",),
    "has_child": ("query",),
    "has_parent": ("query",),
    "hybrid": ("queries",),
    "nested": ("query",),
    "script_score": ("query",),
}


class Step(NamedTuple):
    """A query found inside another: its kind, its content, and the way to it."""

    kind: str
    content: Any
    path: str


def kind_of(query: Any) -> tuple[str, Any] | None:
    """The kind and the content of a query; None where it isn't one object with one key."""
    if not isinstance(query, Mapping) or len(query) != 1:
        return None
    kind, content = next(iter(query.items()))
    return kind, content


def items(value: Any) -> list[Any]:
    """One query, or a list of them, as a list."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


def numbered(value: Any, path: str) -> list[tuple[Any, str]]:
    """The queries at a position, each with its path: `bool.must[0]`."""
    return [(each, f"{path}[{n}]") for n, each in enumerate(items(value))]


def walk(query: Any, path: str = "query") -> Iterator[Step]:
    """A query and all queries inside it."""
    found = kind_of(query)
    if found is None:
        return
    kind, content = found
    yield Step(kind, content, path)
    if not isinstance(content, Mapping):
        return
    for position in _POSITIONS.get(kind, ()):
        for each, where in numbered(content.get(position), f"{path}.{kind}.{position}"):
            yield from walk(each, where)
    if kind == "function_score":
        for each, where in numbered(content.get("functions"), f"{path}.{kind}.functions"):
            if isinstance(each, Mapping):
                yield from walk(each.get("filter"), f"{where}.filter")


def fields_of(step: Step) -> list[str] | None:
    """The fields that a query names as such; None for one that isn't known to name any.

    >>> fields_of(Step("term", {"phase": "2", "boost": 2}, "query"))
    ['phase']
    """
    content = step.content if isinstance(step.content, Mapping) else {}
    if step.kind == "exists":
        return [str(content["field"])] if content.get("field") is not None else None
    if step.kind in _ON_ONE_FIELD:
        return [str(name) for name in content if name not in _NO_FIELD]
    return None


def without_inner_hits(node: Any, inside: str = "") -> Any:
    """A copy of a query for a place where inner hits aren't read."""
    if isinstance(node, Mapping):
        return {
            key: without_inner_hits(value, key)
            for key, value in node.items()
            if not (key == "inner_hits" and inside in JOINING)
        }
    if isinstance(node, list | tuple):
        return [without_inner_hits(each) for each in node]
    return node
