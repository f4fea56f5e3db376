"""The user's `_search` body: every key is used, or refused by name before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.errors import BodyError
from trifuse.ranker.nesting import check_nesting
from trifuse.ranker.queries import NEAREST, items, walk
from trifuse.ranker.types import Clause

LEXICAL_KEYS = frozenset({"aggs", "aggregations", "suggest", "rescore", "track_total_hits", "stats"})
"""Go with the lexical leg: aggregations and suggestions are over what the user's own query matches."""

PAGE_KEYS = frozenset(
    {
        "_source",
        "docvalue_fields",
        "explain",
        "fields",
        "highlight",
        "include_named_queries_score",
        "script_fields",
        "search_pipeline",
        "seq_no_primary_term",
        "stored_fields",
        "version",
    }
)
"""Go with the request that fetches the page: they shape a hit, not the ranking.

So does a search pipeline, the request's or else the index's default: it runs once, over the page. Legs run
without one, so that raw scores are fused; the order of the hits and their scores are the fusion's.
"""

OWN_KEYS = frozenset({"query", "from", "size", "sort", "post_filter", "collapse", "timeout", "track_scores"})
"""Read here."""

_KNOWN = LEXICAL_KEYS | PAGE_KEYS | OWN_KEYS

REFUSED = {
    "ext": "extensions belong to plugins that fusion doesn't know",
    "derived": "derived fields would have to hold in every leg",
    "indices_boost": "legs are normalised, so a boost of raw scores would be lost; boost in a function_score",
    "min_score": "it cuts raw scores, and fused ones have another scale; read trifuse.legs in the response",
    "pit": "legs search an index by name; page with from and size, whose order is stable",
    "profile": "it would time one of several searches; profile your body with a plain _search",
    "scroll": "fused results end at the profile's depth; page with from and size",
    "search_after": "fused results have no sort values; page with from and size, whose order is stable",
    "slice": "it belongs to scroll and pit",
    "terminate_after": "it would cut the lexical leg before its best hits are known; use timeout",
    "verbose_pipeline": "it would show the page alone; give it to a plain _search with your search_pipeline",
}


@dataclass(frozen=True)
class UserBody:
    """The user's body, taken apart.

    Args:
        query: None where the body has none.
        start, size: the page, within the profile's depth.
        lexical: what goes with the lexical leg beside the query.
        page: what goes with the request that fetches the page.
        timeout: goes with every leg.
    """

    query: Clause | None
    start: int
    size: int
    post_filter: Clause | None
    collapse: str | None
    timeout: str | None
    lexical: Mapping[str, Any]
    page: Mapping[str, Any]

    @property
    def tracks_total(self) -> bool:
        """Whether `hits.total` is wanted."""
        return self.lexical.get("track_total_hits", True) is not False


def read_body(
    body: Mapping[str, Any],
    *,
    depth: int,
    start: int | None = None,
    size: int | None = None,
    explain: bool | None = None,
) -> UserBody:
    """Take a body apart; `start`, `size` and `explain` replace its `from`, `size` and `explain`.

    Raises:
        BodyError: naming the key and the remedy.
    """
    if not isinstance(body, Mapping):
        raise BodyError(f"the body is a {type(body).__name__}: give a JSON object")
    check_nesting("the body", body)
    for key in body:
        if key in REFUSED:
            raise BodyError(f"the body's {key!r} can't be used: {REFUSED[key]}")
        if key not in _KNOWN:
            raise BodyError(f"the body's {key!r} is on no list of what trifuse knows: leave it out")
    query = _clause(body, "query")
    if query is not None:
        _check_query(query)
    _check_sort(body.get("sort"))
    _check_rescore(body.get("rescore"), depth)
    if not isinstance(body.get("search_pipeline", ""), (str, Mapping)):
        raise BodyError(
            f"the body's 'search_pipeline' is {body['search_pipeline']!r}: give a pipeline's name, or itself"
        )
    if "_none_" in items(body.get("stored_fields")):
        raise BodyError("stored_fields '_none_' can't be used: it drops the _id by which legs are fused")
    start = _count("from", body.get("from", 0) if start is None else start)
    size = _count("size", body.get("size", 10) if size is None else size)
    if start + size > depth:
        raise BodyError(
            f"from + size is {start + size}, and the profile's depth is {depth}: results beyond it aren't "
            "ranked; ask for fewer, or use a profile with a greater depth"
        )
    page = {key: value for key, value in body.items() if key in PAGE_KEYS}
    if explain is not None:
        page["explain"] = explain
    return UserBody(
        query=query,
        start=start,
        size=size,
        post_filter=_clause(body, "post_filter"),
        collapse=_collapse_field(body.get("collapse")),
        timeout=body.get("timeout"),
        lexical={key: value for key, value in body.items() if key in LEXICAL_KEYS},
        page=page,
    )


def check_text(text: object) -> None:
    """Raises BodyError where a query's text is no string."""
    if not isinstance(text, str):
        raise BodyError(f"text is {text!r}: give the query's text as a string")


def check_filter(filter: object) -> None:
    """Raises BodyError where what is given beside a body is no query; None is nothing."""
    if filter is not None and (not isinstance(filter, Mapping) or not filter):
        raise BodyError(f"filter is {filter!r}: give one query as a JSON object")


def _clause(body: Mapping[str, Any], key: str) -> Clause | None:
    value = body.get(key)
    if value is not None and (not isinstance(value, dict) or not value):
        raise BodyError(f"the body's {key!r} is {value!r}: give a query as a JSON object")
    return value


def _check_query(query: Clause) -> None:
    for step in walk(query):
        if step.kind in NEAREST:
            raise BodyError(
                f"the query has a {step.kind!r} clause at {step.path}: trifuse adds the dense leg itself; "
                "give the lexical query alone"
            )


def _check_sort(sort: Any) -> None:
    if sort is None:
        return
    by_score: tuple[Any, ...] = ([], "_score", {"_score": "desc"}, {"_score": {"order": "desc"}})
    if sort not in by_score and not (isinstance(sort, list) and len(sort) == 1 and sort[0] in by_score):
        raise BodyError(
            f"sort {sort!r} can't be used: it would replace the fused order; leave it out, or sort by _score"
        )


def _check_rescore(rescore: Any, depth: int) -> None:
    for each in items(rescore):
        window = each.get("window_size", 10) if isinstance(each, Mapping) else None
        if not isinstance(window, int) or window < depth:
            raise BodyError(
                f"rescore has window_size {window!r}, and the profile's depth is {depth}: hits outside the "
                f"window would keep scores on another scale; give a window_size of {depth} or more"
            )


def _count(key: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BodyError(f"{key} is {value!r}: give a whole number of 0 or more")
    return value


def _collapse_field(collapse: Any) -> str | None:
    if collapse is None:
        return None
    if not isinstance(collapse, Mapping) or not isinstance(collapse.get("field"), str):
        raise BodyError(f'collapse is {collapse!r}: give {{"field": NAME}}')
    beyond = sorted(collapse.keys() - {"field"})
    if beyond:
        raise BodyError(
            f"collapse with {beyond[0]!r} can't be used: groups are made after fusion; give the field alone"
        )
    return str(collapse["field"])
