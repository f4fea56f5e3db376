"""Sentences grouped by their document: the best of each, in the order of their documents' best. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trifuse.ranker.page import key_of

GROUPED_BY = ("parent_id", "parent_routing")
"""Columns of a sentence that name its document; two may share an id under two routings."""

INNER = "sentences"
"""The name of the inner hits that hold a document's sentences."""


def by_document(response: Mapping[str, Any], *, sentences: int, start: int, size: int) -> dict[str, Any]:
    """A page of documents: each is its best sentence, with its best ones as inner hits.

    Args:
        response: with every sentence that was ranked, and `GROUPED_BY` among its hits' fields.
        sentences: how many to show of a document.
        start, size: of the page, in documents.

    Returns:
        the response, whose `hits.total` counts documents: `eq` where all sentences that match were ranked,
        else `gte`. As in OpenSearch's `collapse` a hit has `fields.parent_id` and `inner_hits`.
    """
    ranked = response["hits"]["hits"]
    total = response["hits"].get("total")
    complete = total is not None and total["relation"] == "eq" and total["value"] == len(ranked)
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for hit in ranked:
        key = (hit["_index"], *(_first(hit, column) for column in GROUPED_BY))
        groups.setdefault(key, []).append(hit)
    relation = "eq" if complete else "gte"
    hits = [_document(group, sentences, relation) for group in list(groups.values())[start : start + size]]
    found = {**response["hits"], "hits": hits}
    if total is not None:
        found["total"] = {"value": len(groups), "relation": relation}
    return {**response, "hits": found}


def ids_shown(response: Mapping[str, Any]) -> list[str]:
    """The ids of the sentences that a page of documents shows."""
    return [hit["_id"] for group in response["hits"]["hits"] for hit in _inner(group)["hits"]]


def filled(response: Mapping[str, Any], hits: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The `hits` of a page of documents whose sentences were ranked alone, of which no more is known.

    Args:
        hits: its sentences as they are to be shown; one that was deleted meanwhile is missing.
    """
    found = {key_of(hit): hit for hit in hits}
    groups = []
    for group in response["hits"]["hits"]:
        inner = _inner(group)
        shown = [found[key] for key in map(key_of, inner["hits"]) if key in found]
        if shown:
            inner |= {"max_score": shown[0]["_score"], "hits": shown}
            groups.append({**shown[0], "inner_hits": {INNER: {"hits": inner}}})
    best = groups[0]["_score"] if groups else None
    return {**response["hits"], "max_score": best, "hits": groups}


def _inner(group: Mapping[str, Any]) -> dict[str, Any]:
    return dict(group["inner_hits"][INNER]["hits"])


def _document(group: list[Mapping[str, Any]], sentences: int, relation: str) -> dict[str, Any]:
    best = group[0]
    inner = {
        "total": {"value": len(group), "relation": relation},
        "max_score": best["_score"],
        "hits": [dict(hit) for hit in group[:sentences]],
    }
    return {**best, "inner_hits": {INNER: {"hits": inner}}}


def _first(hit: Mapping[str, Any], column: str) -> Any:
    return next(iter((hit.get("fields") or {}).get(column) or ()), None)
