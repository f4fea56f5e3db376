"""Sentences grouped by their document: the best of each, in the order of their documents' best. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.page import key_of

GROUPED_BY = ("parent_id", "parent_routing")
"""Columns of a sentence that name its document; two may share an id under two routings."""

INNER = "sentences"
"""The name of the inner hits that hold a document's sentences."""

MOST = 100
"""So many sentences of a document are shown at most: the server's `index.max_inner_result_window`."""

_NAMESAKES = 100
"""So many routings and indices may have documents of one id."""


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
    page = list(groups.values())[start : start + size]
    hits = [_document(group[:sentences], len(group), relation) for group in page]
    found = {**response["hits"], "hits": hits}
    if total is not None:
        found["total"] = {"value": len(groups), "relation": relation}
    return {**response, "hits": found}


@dataclass(frozen=True)
class Group:
    """A document.

    Args:
        hits: its best sentences, best first: ids and scores.
        number: of its sentences, all of which were ranked.
    """

    hits: Sequence[Mapping[str, Any]]
    number: int


def groups_body(body: Mapping[str, Any], *, sentences: int, documents: int) -> dict[str, Any]:
    """The search for every document's best sentences, of which no more is told.

    Args:
        body: the search for sentences.
        sentences: how many of a document, `MOST` at most.
        documents: how many ids there may be.
    """
    aggs: dict[str, Any] = {INNER: {"top_hits": {"size": min(sentences, MOST), "_source": False}}}
    for column, terms in (
        ("_index", {"size": _NAMESAKES}),
        ("parent_routing", {"size": _NAMESAKES, "missing": ""}),
        ("parent_id", {"size": documents}),
    ):
        aggs = {column: {"terms": {"field": column, **terms}, "aggs": aggs}}
    return {**body, "size": 0, "aggs": aggs}


def groups_of(answer: Mapping[str, Any]) -> list[Group]:
    """The documents that `groups_body` finds, in the order of their best sentences."""
    found = [
        Group(each[INNER]["hits"]["hits"], each["doc_count"])
        for document in answer["aggregations"]["parent_id"]["buckets"]
        for routing in document["parent_routing"]["buckets"]
        for each in routing["_index"]["buckets"]
    ]
    return sorted(found, key=lambda group: -group.hits[0]["_score"])


def filled(groups: Iterable[Group], hits: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The hits of a page of documents.

    Args:
        hits: the documents' sentences as they are to be shown; one that was deleted meanwhile is missing.
    """
    found = {key_of(hit): hit for hit in hits}
    shown = [([found[key] for key in map(key_of, group.hits) if key in found], group) for group in groups]
    return [_document(there, group.number, "eq") for there, group in shown if there]


def _document(best: Sequence[Mapping[str, Any]], number: int, relation: str) -> dict[str, Any]:
    """A document by its best sentences, and the number of all of them."""
    inner = {
        "total": {"value": number, "relation": relation},
        "max_score": best[0]["_score"],
        "hits": [dict(hit) for hit in best],
    }
    return {**best[0], "inner_hits": {INNER: {"hits": inner}}}


def _first(hit: Mapping[str, Any], column: str) -> Any:
    return next(iter((hit.get("fields") or {}).get(column) or ()), None)
