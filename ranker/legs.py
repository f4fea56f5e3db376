"""Each leg's search body. Dict in, dict out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trifuse.encoder.spaces import Similarity
from trifuse.ranker.body import UserBody
from trifuse.ranker.queries import items, without_inner_hits
from trifuse.ranker.source import without_vectors
from trifuse.ranker.types import Clause

EXACT_LIMIT = 10_000
"""So many vectors are scored one by one, at most, where no k-NN index is built of them."""


def text_query(text: str, fields: Sequence[str]) -> Clause:
    """The lexical query where the user gives none: every field adds its BM25 score.

    On TREC 2021's patients over trials `most_fields` gave an nDCG@10 of 0.236, `best_fields` with a
    `tie_breaker` of 0.3 0.195, and `cross_fields` 0.172.
    """
    query: Clause = {"query": text, "type": "most_fields", "lenient": True}
    return {"multi_match": {**query, "fields": list(fields)} if fields else query}


def filtered_query(query: Clause, given: Clause | None) -> Clause:
    """The user's query under a filter that was given beside it; its scores stay as they are."""
    return query if given is None else {"bool": {"must": [query], "filter": [given]}}


def lexical_body(user: UserBody, query: Clause, *, size: int, hidden: Sequence[str]) -> dict[str, Any]:
    """The user's own search, `size` hits deep."""
    body = {**leg_body(user, size), **user.lexical, "query": query}
    if user.post_filter is not None:
        body["post_filter"] = user.post_filter
    for key in ("aggs", "aggregations"):
        if key in body:
            body[key] = _aggregations(body[key], hidden)
    return body


def dense_clause(
    field: str, vector: Sequence[float], k: int, filter: Clause | None, *, ignore_unmapped: bool = False
) -> Clause:
    """The `k` nearest documents among those that match the filter."""
    clause: Clause = {"vector": list(vector), "k": k}
    if filter is not None:
        clause["filter"] = filter
    if ignore_unmapped:
        clause["ignore_unmapped"] = True
    return {"knn": {field: clause}}


def exact_clause(
    field: str, vector: Sequence[float], similarity: Similarity | None, filter: Clause | None
) -> Clause:
    """Each document that has a vector and matches the filter, scored by it as a k-NN query scores it.

    Without the first filter a document without a vector would score 0 (tried on 3.6.0, as the scale of
    scores). https://docs.opensearch.org/latest/vector-search/vector-search-techniques/knn-score-script/
    """
    space_type = "innerproduct" if similarity == "dot" else "cosinesimil"
    params = {"field": field, "query_value": list(vector), "space_type": space_type}
    script = {"lang": "knn", "source": "knn_score", "params": params}
    return {"script_score": {"query": with_vector(field, filter), "script": script}}


def with_vector(field: str, filter: Clause | None) -> Clause:
    """The documents that have a vector and match the filter."""
    return {"bool": {"filter": [{"exists": {"field": field}}, *items(filter)]}}


def exact_body(user: UserBody, query: Clause, clause: Clause, *, size: int) -> dict[str, Any]:
    """The nearest of a query's best matches, `EXACT_LIMIT` of each shard."""
    candidates = {"must": [without_inner_hits(query)], "filter": [clause["script_score"]["query"]]}
    rescored = {"rescore_query": clause, "query_weight": 0, "rescore_query_weight": 1}
    rescore = {"window_size": EXACT_LIMIT, "query": rescored}
    return {**dense_body(user, {"bool": candidates}, size=size), "rescore": rescore}


def dense_body(user: UserBody, clause: Clause, *, size: int) -> dict[str, Any]:
    """The nearest documents."""
    return {**leg_body(user, size), "query": clause, "track_total_hits": False}


def clicks_body(user: UserBody, ids: Sequence[str], filter: Clause | None, *, size: int) -> dict[str, Any]:
    """Those of the clicked documents that exist and match the filter."""
    clauses: list[Clause] = [{"ids": {"values": list(ids)}}, *items(filter)]
    return {**leg_body(user, size), "query": {"bool": {"filter": clauses}}, "track_total_hits": False}


def leg_body(user: UserBody, size: int) -> dict[str, Any]:
    """What all legs share: ids and scores alone, and no pipeline over them."""
    body: dict[str, Any] = {"size": size, "_source": False, "search_pipeline": "_none"}
    if user.collapse is not None:
        body["docvalue_fields"] = [user.collapse]
    if user.timeout is not None:
        body["timeout"] = user.timeout
    return body


def _aggregations(aggs: Any, hidden: Sequence[str]) -> Any:
    """Aggregations with the vectors kept out of what `top_hits` returns."""
    if not isinstance(aggs, dict):
        return aggs
    kept = {}
    for name, agg in aggs.items():
        if isinstance(agg, dict):
            agg = dict(agg)
            if isinstance(agg.get("top_hits"), dict):
                agg["top_hits"] = without_vectors(agg["top_hits"], hidden)
            for key in ("aggs", "aggregations"):
                if key in agg:
                    agg[key] = _aggregations(agg[key], hidden)
        kept[name] = agg
    return kept
