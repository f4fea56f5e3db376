"""What the legs brought, and how each fared. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.errors import SearchRejected, SearchUnavailable
from trifuse.ranker.fuse import opinion
from trifuse.ranker.fusion import LegHits
from trifuse.ranker.page import key_of
from trifuse.ranker.profiles.features import Features
from trifuse.ranker.profiles.weights import Weighed, weighed
from trifuse.ranker.request import Request
from trifuse.ranker.server import Answer, reason_of, too_many_terms
from trifuse.ranker.types import Key, LegReport

DELETED = 50
"""Of the best clicked documents so many may have been deleted since, and don't leave a page short."""


@dataclass(frozen=True)
class Retrieved:
    """The legs of one search.

    Args:
        answers: leg to what the server said, for legs that were sent.
        clicked: what the click log said.
        hits: leg to its documents, at most the profile's depth, and its `clicks.candidates`.
        reports: every leg's report.
        weights: leg to the weight that it is fused with.
        rule, features: the rule that set it, and what rules went by: see `Weighed`.
    """

    answers: Mapping[str, Answer]
    clicked: Clicked
    hits: Mapping[str, LegHits]
    reports: Mapping[str, LegReport]
    weights: Mapping[str, float]
    rule: str | None
    features: Features | None

    @property
    def raw_hits(self) -> list[Mapping[str, Any]]:
        """All hits as the server gave them."""
        return [hit for answer in self.answers.values() for hit in answer.hits]

    @property
    def dense_is_whole(self) -> bool:
        """Whether the dense leg brought hits, and none is missing; also where it wasn't sent."""
        dense = self.answers.get("dense")
        return dense is None or bool(dense.hits and not dense.partial)

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


def routed(answers: Mapping[str, Answer]) -> bool:
    """Whether any hit is of a document that was indexed under a routing of its own."""
    return any("_routing" in hit for answer in answers.values() for hit in answer.hits)


def unchecked(request: Request, clicked: Clicked, answers: Mapping[str, Answer]) -> list[str]:
    """The clicked documents of which it isn't known yet whether they are there and match the filters.

    Another leg's hits are and do: the dense leg is held to the very clause that clicked documents are held
    to, and the user's own query implies it (what was lifted out of the query, or the query itself, and the
    filters of the alias and of the body, which the server applies to it). Only where an id may name several
    documents, in several indices or under several routings, another leg's hit doesn't settle it.

    Without a filter they are the best ones only: no ranking shows more than the profile's depth, and a few
    may have been deleted. With one, all: it may leave few of them.
    """
    ids = list(clicked.scores)
    if len(request.target.indices) == 1 and not routed(answers):
        brought = {hit["_id"] for answer in answers.values() for hit in answer.hits}
        ids = [id for id in ids if id not in brought]
    return ids if request.filters.clause is not None else ids[: request.profile.depth + DELETED]


def before_search(request: Request, clicked: Clicked) -> dict[str, LegReport]:
    """How each leg stood before the search."""
    lexical = LegReport("ok")
    if request.profile.weights["lexical"] == 0:
        lexical = LegReport("off", f"weight 0 in the profile {request.profile.name!r}")
    return {"lexical": lexical, "dense": request.encoded.dense, "clicks": clicked.report}


def read_answers(request: Request, clicked: Clicked, answers: Mapping[str, Answer]) -> Retrieved:
    """Hits and reports of the legs.

    Args:
        answers: leg to what the server said; of clicks, about those documents that were `unchecked`.

    Raises:
        SearchRejected: the server refused the lexical leg, which is the user's own query. One with more terms
            than the server allows leaves the lexical leg out instead, where another leg can answer.
        SearchUnavailable: it had no answer for the lexical leg: 5xx or 429.
    """
    _check_lexical(answers)
    hits: dict[str, LegHits] = {}
    reports = {}
    for leg, before in before_search(request, clicked).items():
        answer = answers.get(leg)
        if leg == "clicks" and clicked.scores:
            answer = answer or _NOTHING_TO_ASK
        if answer is None:
            reports[leg] = before
            continue
        if leg == "clicks":
            found = _clicked(clicked, answers) if answer.error is None else ()
            brought = LegHits.of(found, depth=request.profile.clicks.candidates)
        else:
            brought = answer.ranked
        hits[leg] = _reaching(request, leg, brought)
        reports[leg] = _report(request, clicked, leg, answer, before, len(brought.keys), len(hits[leg].keys))
    fused = weighed(request.profile, request.text, clicked.segment, hits)
    reports = {leg: _weighed(report, request, leg, fused) for leg, report in reports.items()}
    return Retrieved(answers, clicked, fused.hits, reports, fused.weights, fused.rule, fused.features)


def supported(request: Request, clicked: Clicked, answers: Mapping[str, Answer]) -> Clicked:
    """Clicks, weighed by what the other legs found, where the profile asks for it."""
    if request.profile.clicks.support == 0 or not clicked.scores:
        return clicked
    hits = {leg: _reaching(request, leg, answer.ranked) for leg, answer in answers.items()}
    return clicked.supported(opinion(hits, request.profile, similarity=request.similarity))


def presumed(
    request: Request, clicked: Clicked, answers: Mapping[str, Answer], ids: Iterable[str]
) -> Retrieved | None:
    """What the legs brought, if these clicked documents are all there and match.

    It is the right guess nearly always, and leads to the page before it is known. None where it takes more
    to guess: which index a document is in, its routing, or what it is collapsed on.
    """
    if request.user.collapse is not None or len(request.target.indices) != 1 or routed(answers):
        return None
    (index,) = request.target.indices
    there = Answer(200, None, {"hits": {"hits": [{"_id": id, "_index": index} for id in ids]}})
    return read_answers(request, clicked, {**answers, "clicks": there})


def confirmed(guess: Retrieved, answer: Answer) -> Retrieved | None:
    """The guess, with the answer about the clicked documents in it; None where it was wrong."""
    expected, found = ({key_of(hit) for hit in each.hits} for each in (guess.answers["clicks"], answer))
    if answer.error is not None or answer.partial or found != expected:
        return None
    report = guess.reports["clicks"]
    report = replace(report, took_ms=report.took_ms + answer.took_ms)
    answers, reports = {**guess.answers, "clicks": answer}, {**guess.reports, "clicks": report}
    return replace(guess, answers=answers, reports=reports)


_NOTHING_TO_ASK = Answer(200, None, {})


def _clicked(clicked: Clicked, answers: Mapping[str, Answer]) -> Iterator[tuple[Key, float]]:
    """Documents that any leg brought, and that were clicked."""
    scores = clicked.scores
    for leg, answer in answers.items():
        keys = map(key_of, answer.hits) if leg == "clicks" else answer.ranked.keys
        yield from ((key, scores[key.id]) for key in keys if key.id in scores)


def _reaching(request: Request, leg: str, hits: LegHits) -> LegHits:
    floor = request.profile.floors.get(leg)
    return hits if floor is None else hits.reaching(floor)


def _report(
    request: Request,
    clicked: Clicked,
    leg: str,
    answer: Answer,
    before: LegReport,
    brought: int,
    count: int,
) -> LegReport:
    after = replace(before, took_ms=before.took_ms + answer.took_ms, hits=count)
    if before.state != "ok":
        return after
    if answer.error is not None:
        return replace(after, state="failed", reason=reason_of(answer.error))
    if answer.partial:
        return replace(after, reason=answer.partial)
    if leg == "dense" and (lacking := request.target.lacks(request.field)):
        after = replace(after, reason=f"no vectors in {', '.join(lacking)}")
    if count < brought:
        hits = "1 hit" if brought - count == 1 else f"{brought - count} hits"
        below = f"{hits} below the floor of {request.profile.floors[leg]:g}"
        after = replace(after, reason=below if after.reason is None else f"{after.reason}; {below}")
        return after if count else replace(after, state="empty")
    if count == 0:
        return replace(after, state="empty", reason=_nothing(clicked, leg))
    return after


def _weighed(report: LegReport, request: Request, leg: str, fused: Weighed) -> LegReport:
    """The report, where a rule may have left the leg out after it was searched."""
    if fused.weights[leg] > 0 or report.state not in ("ok", "empty"):
        return report
    why = f"weight 0 by rule {fused.rule} of the profile {request.profile.name!r}"
    return replace(report, state="off", reason=why, hits=0)


def _nothing(clicked: Clicked, leg: str) -> str:
    if leg == "clicks":
        return f"none of the {len(clicked.scores)} clicked documents is there and matches the filters"
    return "no document matches" if leg == "lexical" else "no document with a vector matches the filters"


def _check_lexical(answers: Mapping[str, Answer]) -> None:
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
        if answer.status >= 500 or answer.status == 429:
            raise SearchUnavailable(
                f"OpenSearch answered {answer.status}: {reason_of(answer.error)}; try again later"
            )
    raise SearchRejected(message, status=answer.status, error=answer.error)
