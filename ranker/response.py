"""The response: OpenSearch's own shape, with what each leg gave. Dict out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.past_queries import similarity_of
from trifuse.ranker.fusion import Candidate, LegHits
from trifuse.ranker.ranking import Ranking
from trifuse.ranker.request import Request
from trifuse.ranker.retrieved import Retrieved
from trifuse.ranker.types import Key, LegReport
from trifuse.ranker.unseen import dense_is_full

_PAST_QUERIES = 10
"""So many of the past queries that gave evidence are shown."""


def total_hits(request: Request, retrieved: Retrieved) -> dict[str, Any]:
    """`hits.total`: the larger of the lexical total and the fused candidates.

    The relation is `eq` where that is the size of the union of the legs' matches, and `gte` where the union
    may be larger: a leg was cut at its depth, or failed, or what it brought may be lexical matches or not.
    Where the dense leg was cut, documents that clicks alone brought aren't counted: they may be gone.
    """
    lexical = set(retrieved.hits.get("lexical", LegHits()).keys)
    full = dense_is_full(request, retrieved)
    legs = ["dense"] if full else ["dense", "clicks"]
    others = {key for leg in legs for key in retrieved.hits.get(leg, LegHits()).keys}
    counted, exact = len(lexical), retrieved.reports["lexical"].state != "failed"
    bounded = False
    if retrieved.lexical_total is not None:
        counted = int(retrieved.lexical_total["value"])
        exact = retrieved.lexical_total["relation"] == "eq" and not retrieved.answers["lexical"].partial
        bounded = request.filters.rescore is not None
    if not bounded:
        profile, dense = request.profile, retrieved.hits.get("dense", LegHits())
        cut = len(dense.keys) >= profile.depth_of("dense")
        cut = cut or len(retrieved.clicked.scores) >= min(profile.depth, profile.clicks.candidates)
        exact = exact and not cut and (counted <= len(lexical) or others <= lexical)
    return {"value": max(counted, len(lexical | others)), "relation": "eq" if exact else "gte"}


def _hit(
    request: Request, ranking: Ranking, candidate: Candidate, found: Mapping[str, Any]
) -> dict[str, Any]:
    """A hit with its fused score, what each leg gave it, and the value that it was collapsed on."""
    # `asdict` copies deeply: over a page it would take as long as the fusion.
    legs: dict[str, Any] = {
        leg: None if value is None else {**vars(value)} for leg, value in candidate.legs.items()
    }
    if legs["dense"] is not None and request.similarity is not None:
        legs["dense"]["similarity"] = similarity_of(legs["dense"]["score"], request.similarity)
    hit = {**found, "_score": candidate.score, "trifuse": {"legs": legs}}
    if "_explanation" in found:
        hit["_explanation"] = _explanation(candidate, found["_explanation"])
    if request.user.collapse is not None:
        group = {request.user.collapse: [ranking.groups[candidate.key]]}
        hit["fields"] = {**found.get("fields", {}), **group}
    return hit


def _explanation(candidate: Candidate, of_query: Mapping[str, Any]) -> dict[str, Any]:
    details = []
    for leg, value in candidate.legs.items():
        if value is not None:
            described = (
                f"{leg}: rank {value.rank}, score {value.score:g}, normalized {value.normalized:g}, "
                f"weight {value.weight:g}"
            )
            below = [of_query] if leg == "lexical" else []
            details.append({"value": value.normalized, "description": described, "details": below})
    return {"value": candidate.score, "description": "legs fused by trifuse", "details": details}


def build_response(
    request: Request,
    retrieved: Retrieved,
    ranking: Ranking,
    documents: Mapping[Key, Mapping[str, Any]],
    *,
    took_ms: int,
) -> dict[str, Any]:
    """The whole response; aggregations, suggestions and shards are the lexical leg's."""
    lexical, clicked = retrieved.lexical, retrieved.clicked
    hits = [
        _hit(request, ranking, ranking.fusion.candidate(place), documents[key])
        for place, key in zip(ranking.places, ranking.keys, strict=True)
        if key in documents
    ]
    best = float(ranking.fusion.scores[0]) if ranking.fusion.keys else None
    found: dict[str, Any] = {"max_score": best, "hits": hits}
    if request.user.tracks_total:
        found = {"total": total_hits(request, retrieved), **found}
    answer: dict[str, Any] = {
        "took": took_ms,
        "timed_out": retrieved.timed_out,
        "_shards": lexical.get("_shards", {"total": 0, "successful": 0, "skipped": 0, "failed": 0}),
        "hits": found,
    }
    answer.update({key: lexical[key] for key in ("aggregations", "suggest") if key in lexical})
    answer["trifuse"] = about(request, clicked, retrieved.reports, retrieved.weights, rule=retrieved.rule)
    if request.user.page.get("explain"):
        answer["trifuse"]["features"] = None if retrieved.features is None else asdict(retrieved.features)
    return answer


def about(
    request: Request,
    clicked: Clicked,
    reports: Mapping[str, LegReport],
    weights: Mapping[str, float],
    *,
    rule: str | None,
) -> dict[str, Any]:
    """A response's `trifuse`: the settings, how each leg fared, and what the click log knows of the query."""
    legs: dict[str, Any] = {
        leg: {**vars(each), "weight": weights.get(leg, 0.0)} for leg, each in reports.items()
    }
    if reports["dense"].state in ("ok", "empty", "failed"):
        legs["dense"]["field"] = request.field
    if request.exact is not None:
        legs["dense"] |= {"exact": True, "candidates": request.exact}
    if request.user.page.get("explain"):  # not unasked: these are what other people typed
        legs["clicks"]["queries"] = [query._asdict() for query in clicked.queries[:_PAST_QUERIES]]
    return {
        "profile": request.profile.name,
        "profile_version": request.profile_version,
        "profile_note": request.profile_note,
        "execution": request.profile.execution,
        "rule": rule,
        "legs": legs,
        "filter": request.filters.as_dict(),
        "query": {"frequency": clicked.frequency, "segment": clicked.segment},
    }
