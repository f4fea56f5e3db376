"""The server's answer to a `hybrid` query, as a response of the ranker's. Dict out, pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.past_queries import similarity_of
from trifuse.ranker.native.query import NAME, NativeSearch
from trifuse.ranker.request import Request
from trifuse.ranker.response import about
from trifuse.ranker.retrieved import before_search
from trifuse.ranker.server import Answer
from trifuse.ranker.types import LEGS, LegReport

_NOT_TOLD = "OpenSearch fused the legs, and doesn't tell what each gave a hit: explain tells the raw scores"
_NOT_ALL_TOLD = "OpenSearch fused the legs, and tells their raw scores, but neither normalized ones nor ranks"


def nothing(request: Request) -> dict[str, Any]:
    """The answer where no leg has anything to search by."""
    total = {"total": {"value": 0, "relation": "eq"}} if request.user.tracks_total else {}
    shards = {"total": 0, "successful": 0, "skipped": 0, "failed": 0}
    return {"took": 0, "timed_out": False, "_shards": shards, "hits": {**total, "hits": []}}


def build_native_response(
    request: Request,
    clicked: Clicked,
    search: NativeSearch | None,
    answer: Mapping[str, Any],
    beside: Mapping[str, Any],
    reports: Mapping[str, LegReport],
    *,
    took_ms: int,
) -> dict[str, Any]:
    """The whole response, of the shape that fusion here gives.

    Args:
        search: what was sent.
        answer: the server's.
        beside: its answer of what is the lexical leg's alone.
        reports: every leg's.
    """
    weights = search.weights if search else {}
    explained = bool(request.user.page.get("explain"))
    hits = [
        _explained(request, weights, hit) if explained else {**hit, "trifuse": {"legs": dict.fromkeys(LEGS)}}
        for hit in answer["hits"]["hits"]
    ]
    response: dict[str, Any] = {
        "took": took_ms,
        "timed_out": answer["timed_out"],
        "_shards": answer["_shards"],
        # The server says 0.0 where there are no hits.
        "hits": {**answer["hits"], "max_score": answer["hits"].get("max_score") or None, "hits": hits},
    }
    if reports["lexical"].state == "failed" and "total" in answer["hits"]:  # counted without it
        response["hits"]["total"] = {**answer["hits"]["total"], "relation": "gte"}
    response.update({key: beside[key] for key in ("aggregations", "suggest") if key in beside})
    told = about(request, clicked, reports, weights, rule=None)
    for leg in weights:
        told["legs"][leg]["hits"] = None  # one answer is of all legs
    response["trifuse"] = {**told, "note": _NOT_ALL_TOLD if explained else _NOT_TOLD}
    return response


def leg_reports(
    request: Request,
    clicked: Clicked,
    search: NativeSearch | None,
    answer: Answer,
    why_not: Mapping[str, str],
) -> dict[str, LegReport]:
    """How each leg fared, as far as one answer to all of them tells.

    Args:
        why_not: leg to why it was left out after all.
    """
    before = before_search(request, clicked)
    reports = {}
    took_ms, partial = answer.took_ms, answer.partial
    for leg in LEGS:
        report = before[leg]
        if leg in why_not:
            report = replace(report, state="failed", reason=why_not[leg])
        elif search and leg in search.weights:
            reason = report.reason
            if leg == "dense" and (lacking := request.target.lacks(request.field)):
                reason = f"no vectors in {', '.join(lacking)}"
            report = LegReport(report.state, partial or reason, report.took_ms + took_ms, report.hits)
        reports[leg] = report
    return reports


def _explained(request: Request, weights: Mapping[str, float], hit: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(hit)
    told: Mapping[str, float] = found.pop("matched_queries", {})
    names = [name for name in told if not name.startswith(NAME)]
    if names:
        found["matched_queries"] = names
    legs = {leg: _leg(request, leg, told.get(NAME + leg), weights.get(leg)) for leg in LEGS}
    return {**found, "_explanation": _explanation(hit["_score"], legs), "trifuse": {"legs": legs}}


def _explanation(score: float, legs: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Any]:
    details = [
        {"value": told["score"], "description": f"{leg}: score, weight {told['weight']:g}", "details": []}
        for leg, told in legs.items()
        if told is not None
    ]
    return {"value": score, "description": "legs fused by OpenSearch", "details": details}


def _leg(
    request: Request, leg: str, score: float | None, weight: float | None
) -> dict[str, float | int | None] | None:
    """What a leg gave a hit: the raw score alone."""
    if score is None or weight is None:
        return None
    told: dict[str, float | int | None] = {"score": score, "normalized": None, "weight": weight, "rank": None}
    if leg == "dense" and request.similarity is not None:
        told["similarity"] = similarity_of(score, request.similarity)
    return told
