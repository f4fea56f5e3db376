"""One search with the server's `hybrid` query in the place of a search for each leg. Dict out, pure.

https://docs.opensearch.org/latest/query-dsl/compound/hybrid/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trifuse.ranker.body import UserBody
from trifuse.ranker.errors import BodyError
from trifuse.ranker.native.pipeline import Processor, fusing_pipeline, shares
from trifuse.ranker.params import UrlParams
from trifuse.ranker.queries import items
from trifuse.ranker.request import Request
from trifuse.ranker.source import joined_without_vectors, without_vectors
from trifuse.ranker.types import Clause

MAX_CLICKS = 1_000
"""Clicked documents in one query: each is a clause, and a server takes 1,024 unless told otherwise."""

_TOGETHER = ("stats", "track_total_hits")
"""Of the keys that go with the lexical leg these go with all legs."""

NAME = "trifuse."
"""Begins the names of the legs' sub-queries, where the server is asked which of them match."""


@dataclass(frozen=True)
class NativeSearch:
    """One search as it is sent.

    Args:
        weights: leg to its share, for the legs that are in it; they sum to 1.
        body, params: of `_search`.
    """

    weights: Mapping[str, float]
    body: Mapping[str, Any]
    params: Mapping[str, Any]


def check_native_request(user: UserBody, url: UrlParams) -> None:
    """Refuse what the server's `hybrid` query doesn't honour.

    Raises:
        BodyError: naming the key and the remedy.
    """
    refused = {
        "rescore": "the server rescores every sub-query, also the nearest vectors and the clicks",
        "search_pipeline": "the server runs one pipeline, and it is the one that fuses",
    }
    for key, why in refused.items():
        if key in {**user.lexical, **user.page, **url.shaping}:
            raise BodyError(f"{key!r} can't be used natively: {why}; use the execution 'client'")
    if str(url.header.get("search_type", "")).startswith("dfs"):
        raise BodyError(
            "the URL's search_type 'dfs_query_then_fetch' can't be used natively: the server answers hybrid "
            "queries wrongly with it; use the execution 'client'"
        )


def native_search_of(
    request: Request,
    clicks: Mapping[str, float],
    weights: Mapping[str, float],
    *,
    without: Sequence[str] = (),
    responding: Sequence[Processor] = (),
) -> NativeSearch | None:
    """The search; None where no leg has anything to search by.

    Where an explanation is asked for, the sub-queries are named, and the server says which scores what. Its
    own explanation changes the scores, and fails for some hits (tried on 3.6.0), so it isn't asked for.

    Args:
        clicks: document id to its evidence.
        weights: leg to weight.
        without: legs that are left out.
        responding: processors of the index's own pipeline.
    """
    clauses = request.clauses()
    if clicks:
        clauses["clicks"] = clicks_clause(clicks, request.filters.clause)
    clauses = {leg: each for leg, each in clauses.items() if weights[leg] > 0 and leg not in without}
    if not clauses:
        return None
    explained = bool(request.user.page.get("explain"))
    weights = shares({leg: weights[leg] for leg in clauses})
    queries = [_sub_query(leg, clause, request, named=explained) for leg, clause in clauses.items()]
    page = {key: value for key, value in request.user.page.items() if key != "explain"}
    body = {
        **without_vectors(page, request.target.hidden_fields()),
        "from": request.user.start,
        "size": request.user.size,
        "query": {"hybrid": {"queries": queries, "pagination_depth": request.profile.depth}},
        "search_pipeline": fusing_pipeline(request.profile, weights, responding=responding),
        **{key: request.user.lexical[key] for key in _TOGETHER if key in request.user.lexical},
    }
    if request.user.post_filter is not None:
        body["post_filter"] = request.user.post_filter
    if request.user.collapse is not None:
        body["collapse"] = {"field": request.user.collapse}
    if request.user.timeout is not None:
        body["timeout"] = request.user.timeout
    params = {**request.url.header, **request.url.naming}
    if explained:
        params["include_named_queries_score"] = "true"
    return NativeSearch(weights, body, params)


def beside_body(request: Request) -> dict[str, Any] | None:
    """The search for what is of the lexical leg's matches alone; None where nothing of it is asked for.

    The aggregations of a `hybrid` query are of all sub-queries' matches, and its scores in them of any.
    """
    if not request.user.lexical.keys() & {"aggs", "aggregations", "suggest"}:
        return None
    return {**request.bodies()["lexical"], "size": 0, "track_total_hits": False}


def clicks_clause(scores: Mapping[str, float], filter: Clause | None) -> Clause:
    """The best clicked documents of those that match the filter, each with its evidence as the score.

    A document without evidence is left out: OpenSearch takes what scores 0 in every sub-query for no hit.
    """
    best = sorted((id for id in scores if scores[id] > 0), key=lambda id: (-scores[id], id))[:MAX_CLICKS]
    should = [{"term": {"_id": {"value": id, "boost": scores[id]}}} for id in best]
    return {"bool": {"should": should, "minimum_should_match": 1, "filter": items(filter)}}


def scoring(query: Clause) -> Clause:
    """The query; one of filters alone scores each match 1, where OpenSearch would score 0.

    What scores 0 in every sub-query is no hit of a `hybrid` query.

    >>> scoring({"bool": {"filter": [{"term": {"a": 1}}]}})
    {'constant_score': {'filter': {'bool': {'filter': [{'term': {'a': 1}}]}}}}
    """
    return {"constant_score": {"filter": query}} if _scores_nothing(query) else query


def _scores_nothing(query: Any) -> bool:
    content = query.get("bool") if isinstance(query, Mapping) else None
    if not isinstance(content, Mapping) or items(content.get("should")):
        return False
    return all(_scores_nothing(each) for each in items(content.get("must")))


def _sub_query(leg: str, clause: Clause, request: Request, *, named: bool) -> Clause:
    if leg == "lexical":
        clause = scoring(joined_without_vectors(clause, request.target.hidden_fields()))
    return {"bool": {"must": [clause], "_name": NAME + leg}} if named else clause
