"""The filters in a query: what every match must satisfy, full text left aside. Dict to dict.

A clause is lifted where a match requires it and it scores no full text: the user's own query then returns
nothing that the lifted filter would exclude, and the other legs can be held to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.minimum_should_match import required_matches
from trifuse.ranker.queries import (
    FULL_TEXT,
    JOINING,
    TERM_LEVEL,
    items,
    kind_of,
    numbered,
    walk,
    without_inner_hits,
)
from trifuse.ranker.types import Clause

IsText = Callable[[str], bool | None]
"""Whether a field, or any field of a pattern, is analysed text; None where that differs by index."""

_NO_MATCH: Clause = {"match_none": {}}
_BOOL_KEYS = frozenset(
    {
        "_name",
        "adjust_pure_negative",
        "boost",
        "filter",
        "minimum_should_match",
        "must",
        "mustNot",
        "must_not",
        "should",
    }
)


@dataclass(frozen=True)
class Lifted:
    """What a query requires.

    Args:
        clauses: each holds for every match; together they are weaker than the query or equal to it.
        not_lifted: required clauses that can't be classified: `query.bool.must[1]: percolate`.
    """

    clauses: tuple[Clause, ...] = ()
    not_lifted: tuple[str, ...] = ()


def all_of(clauses: Sequence[Clause]) -> Clause | None:
    """One clause that holds where all do; None where there are none."""
    if not clauses:
        return None
    return dict(clauses[0]) if len(clauses) == 1 else {"bool": {"filter": list(clauses)}}


def lift(query: Any, *, is_text: IsText = lambda field: True, path: str = "query") -> Lifted:
    """The filters that a query holds.

    `is_text` tells a `match` on a keyword field, which is a filter, from one on text, which isn't. On a field
    that is a keyword here and text there it can't be classified.

    >>> lift({"bool": {"must": [{"match": {"title": "asthma"}}, {"term": {"tenant": "a"}}]}}).clauses
    ({'term': {'tenant': 'a'}},)
    """
    found = kind_of(query)
    if found is None:
        return Lifted(not_lifted=(f"{path}: not one query",))
    kind, content = found
    if kind in _COMPOUND and isinstance(content, Mapping):
        return _COMPOUND[kind](content, is_text, f"{path}.{kind}")
    analysed = _is_analysed(kind, content, is_text) if kind in FULL_TEXT else None
    if kind in TERM_LEVEL or analysed is False:
        return Lifted((without_inner_hits(query),))
    if kind == "match_all" or analysed:
        return Lifted()
    return Lifted(not_lifted=(f"{path}: {kind}",))


def _bool(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
    parts = [
        lift(each, is_text=is_text, path=at) for each, at in numbered(content.get("must"), f"{path}.must")
    ]
    parts.append(Lifted(tuple(without_inner_hits(each) for each in items(content.get("filter")))))
    should = numbered(content.get("should"), f"{path}.should")
    required = bool(content.get("must") or content.get("filter"))
    # The server still reads the old name.
    excluded = [
        without_inner_hits(each) for key in ("must_not", "mustNot") for each in items(content.get(key))
    ]
    if excluded:
        clause = {"must_not": excluded}
        if not required and not should and "adjust_pure_negative" in content:
            clause["adjust_pure_negative"] = content["adjust_pure_negative"]
        parts.append(Lifted(({"bool": clause},)))
    if required or should or excluded:
        least = required_matches(content.get("minimum_should_match"), len(should))
        least = max(least, 1) if should and not required else least
        parts.append(_at_least(least, [lift(each, is_text=is_text, path=at) for each, at in should]))
    unknown = (key for key in content if key not in _BOOL_KEYS)
    parts.append(Lifted(not_lifted=tuple(f"{path}.{key}" for key in unknown)))
    return _joined(parts)


def _at_least(least: int, alternatives: Sequence[Lifted]) -> Lifted:
    """What holds where `least` of the alternatives match."""
    if least > len(alternatives):
        return Lifted((_NO_MATCH,))
    free = sum(not each.clauses and not each.not_lifted for each in alternatives)
    if least <= free:
        return Lifted()
    not_lifted = tuple(name for each in alternatives for name in each.not_lifted)
    filtered = [clause for each in alternatives if (clause := all_of(each.clauses))]
    # An alternative without clauses may be among those that match: only the rest have to be filters.
    least -= len(alternatives) - len(filtered)
    if least <= 0:
        return Lifted(not_lifted=not_lifted)
    return Lifted(({"bool": {"should": filtered, "minimum_should_match": least}},), not_lifted)


def _constant_score(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
    return Lifted(tuple(without_inner_hits(each) for each in items(content.get("filter"))))


def _scored(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
    """function_score and script_score: the query that they score, and what `min_score` cuts off."""
    parts = []
    if "query" in content:
        parts.append(lift(content["query"], is_text=is_text, path=f"{path}.query"))
    if content.get("min_score") is not None:
        parts.append(Lifted(not_lifted=(f"{path}.min_score",)))
    return _joined(parts)


def _boosting(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
    return lift(content.get("positive"), is_text=is_text, path=f"{path}.positive")


def _dis_max(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
    queries = numbered(content.get("queries"), f"{path}.queries")
    return _at_least(1, [lift(each, is_text=is_text, path=at) for each, at in queries])


def _joining(kind: str) -> _Compound:
    def lift_joining(content: Mapping[str, Any], is_text: IsText, path: str) -> Lifted:
        if _scores_no_text({kind: content}, is_text):
            return Lifted((without_inner_hits({kind: content}),))
        inner = lift(content.get("query"), is_text=is_text, path=f"{path}.query")
        # In one clause: all of it must hold for the same nested or joined document, and there must be one.
        clause = all_of(inner.clauses) or {"match_all": {}}
        kept = {
            key: value for key, value in content.items() if key not in ("query", "inner_hits", "max_children")
        }
        return Lifted(({kind: {**kept, "query": clause}},), inner.not_lifted)

    return lift_joining


_Compound = Callable[[Mapping[str, Any], IsText, str], Lifted]
_COMPOUND: dict[str, _Compound] = {
    "bool": _bool,
    "boosting": _boosting,
    "constant_score": _constant_score,
    "dis_max": _dis_max,
    "function_score": _scored,
    "script_score": _scored,
    **{kind: _joining(kind) for kind in sorted(JOINING)},
}


def _joined(parts: Sequence[Lifted]) -> Lifted:
    return Lifted(
        tuple(clause for part in parts for clause in part.clauses),
        tuple(name for part in parts for name in part.not_lifted),
    )


def _fields(kind: str, content: Any) -> list[str]:
    """The fields that a full-text query names; none where it takes the index's default."""
    if not isinstance(content, Mapping):
        return []
    if kind in ("match", "match_bool_prefix", "match_phrase", "match_phrase_prefix", "span_term"):
        return [str(field) for field in content]
    named = items(content.get("fields")) + items(content.get("default_field"))
    return [str(field).split("^")[0] for field in named]


def _scores_no_text(query: Any, is_text: IsText) -> bool:
    """Whether a query is a filter as it stands: nothing in it is full text, or of an unknown kind."""
    return all(
        step.kind in _COMPOUND
        or step.kind in TERM_LEVEL
        or step.kind == "match_all"
        or (step.kind in FULL_TEXT and _is_analysed(step.kind, step.content, is_text) is False)
        for step in walk(query)
    )


def _is_analysed(kind: str, content: Any, is_text: IsText) -> bool | None:
    """Whether a full-text query is on analysed fields, one at least; False: it is a filter; None: unknown."""
    if _names_fields(kind, content):
        return None
    fields = [is_text(field) for field in _fields(kind, content)]
    if not fields or any(fields):
        return True
    return None if None in fields else False


def _names_fields(kind: str, content: Any) -> bool:
    """Whether a query_string may hold a filter in its own syntax: `+tenant:a asthma`."""
    text = content.get("query") if kind == "query_string" and isinstance(content, Mapping) else None
    return isinstance(text, str) and re.search(r"(?<!\\):", text) is not None
