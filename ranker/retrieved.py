"""What the legs brought, and how each fared. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trifuse.ranker.errors import SearchRejected
from trifuse.ranker.fuse import LegHits
from trifuse.ranker.page import key_of
from trifuse.ranker.request import Request
from trifuse.ranker.server import Answer, reason_of, too_many_terms
from trifuse.ranker.types import LEGS, Key, LegReport


@dataclass(frozen=True)
class Retrieved:
    """The legs of one search.

    Args:
        answers: leg to what the server said, for legs that were sent.
        hits: leg to its documents, at most the profile's depth.
        reports: every leg's report.
    """

    answers: Mapping[str, Answer]
    hits: Mapping[str, LegHits]
    reports: Mapping[str, LegReport]

    @property
    def raw_hits(self) -> list[Mapping[str, Any]]:
        """All hits as the server gave them."""
        return [hit for answer in self.answers.values() for hit in answer.hits]

    @property
    def lexical(self) -> Mapping[str, Any]:
        """The lexical leg's response, which has aggregations and shards; empty where there is none."""
        return self.answers["lexical"].content if "lexical" in self.answers else {}

    @property
    def lexical_total(self) -> Mapping[str, Any] | None:
        """What the lexical leg counted; None where it gives no candidates, or where a total isn't wanted."""
        counts = self.reports["lexical"].state in ("ok", "empty")
        total: Mapping[str, Any] | None = (self.lexical.get("hits") or {}).get("total") if counts else None
        return total

    @property
    def timed_out(self) -> bool:
        """Whether any leg ran out of time."""
        return any(bool(answer.content.get("timed_out")) for answer in self.answers.values())


def read_answers(request: Request, answers: Mapping[str, Answer]) -> Retrieved:
    """Hits and reports of the legs.

    Raises:
        SearchRejected: the server refused the lexical leg, which is the user's own query. One with more terms
            than the server allows leaves the lexical leg out instead, where another leg can answer.
    """
    hits, reports = {}, {}
    for leg in LEGS:
        before = _before(request, leg)
        answer = answers.get(leg)
        if answer is None:
            reports[leg] = before
            continue
        hits[leg] = LegHits.of(_scored(request, leg, answer), depth=request.profile.depth)
        reports[leg] = _report(request, leg, answer, before, len(hits[leg].keys))
    _check_lexical(request, answers)
    return Retrieved(answers, hits, reports)


def _before(request: Request, leg: str) -> LegReport:
    """How a leg stood before the search."""
    if leg == "lexical":
        if request.profile.weights["lexical"] == 0:
            return LegReport("off", f"weight 0 in the profile {request.profile.name!r}")
        return LegReport("ok")
    return request.signals.dense if leg == "dense" else request.signals.clicks


def _scored(request: Request, leg: str, answer: Answer) -> Iterable[tuple[Key, float | None]]:
    for hit in answer.hits:
        score = request.signals.clicked.get(hit["_id"]) if leg == "clicks" else hit.get("_score")
        yield key_of(hit), score


def _report(request: Request, leg: str, answer: Answer, before: LegReport, count: int) -> LegReport:
    after = replace(before, took_ms=before.took_ms + answer.took_ms, hits=count)
    if before.state != "ok":
        return after
    if answer.error is not None:
        return replace(after, state="failed", reason=reason_of(answer.error))
    if answer.partial:
        return replace(after, reason=answer.partial)
    if leg == "dense" and (lacking := request.target.lacks(request.profile.vector_field)):
        after = replace(after, reason=f"no vectors in {', '.join(lacking)}")
    if count == 0:
        return replace(after, state="empty", reason=_nothing(request, leg))
    return after


def _nothing(request: Request, leg: str) -> str:
    if leg == "clicks":
        return (
            f"none of the {len(request.signals.clicked)} clicked documents is there and matches the filters"
        )
    return "no document matches" if leg == "lexical" else "no document with a vector matches the filters"


def _check_lexical(request: Request, answers: Mapping[str, Answer]) -> None:
    answer = answers.get("lexical")
    if answer is None or answer.error is None:
        return
    others = any(each.error is None for leg, each in answers.items() if leg != "lexical")
    if too_many_terms(answer.error) and others:
        return
    if too_many_terms(answer.error):
        message = (
            "the query has more terms than OpenSearch allows (indices.query.bool.max_clause_count), and no "
            "other leg could answer: shorten it"
        )
    else:
        message = f"OpenSearch refused the query: {reason_of(answer.error)}"
    raise SearchRejected(message, status=answer.status, error=answer.error)
