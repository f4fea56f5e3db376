"""Retrieves what tuning needs, once for each query, by the very code that serves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from trifuse.ranker.body_template import fill_template
from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.errors import BodyError, SearchUnavailable
from trifuse.ranker.evaluation.runs import patient, ranking_template
from trifuse.ranker.hybrid import HybridRanker
from trifuse.ranker.page import key_of
from trifuse.ranker.profiles.profile import Profile
from trifuse.ranker.request import Request
from trifuse.ranker.retrieved import read_answers, routed
from trifuse.ranker.searches import ask_legs, check
from trifuse.ranker.server import Answer
from trifuse.ranker.tuning.cache import LegCache, Pairs, index_state
from trifuse.ranker.tuning.collected import Collected
from trifuse.ranker.tuning.collected_query import CollectedQuery
from trifuse.ranker.types import LEGS, LegReport

_MOVED = "{!r} was switched to other vectors meanwhile"


def collect(
    ranker: HybridRanker,
    index: str | Sequence[str],
    queries: Mapping[str, str],
    *,
    profile: Profile | str | None = None,
    depth: int | None = None,
    body: Mapping[str, Any] | None = None,
    leave_one_out: bool = False,
    cache: str | Path | None = None,
    progress: Callable[[], None] | None = None,
) -> Collected:
    """Retrieve each query's legs once: lexical, dense and clicks, whatever the profile's weights.

        collected = collect(ranker, "trials", {"q1": "stroke in adults"}, depth=1000)

    Args:
        queries: id to text.
        profile: how the click log is read, the vector field and `k`; or its name; None: the ranker's.
        depth: hits taken from each leg, in the place of the profile's. Rankings of a smaller depth use the
            first of them; a k-NN search for fewer neighbours may find slightly others, as it is approximate.
        body: the team's own body, with `{{text}}` where the text goes; None: the profile's, if it has one.
        leave_one_out: leave a query's own clicks out of the log.
        cache: a folder that keeps what the legs brought, for as long as the index isn't changed.
        progress: called after each query.

    Raises:
        ProfileError: no profile has that name.
        SearchUnavailable: a leg failed for a query, or gave a part of its hits: settings would be chosen by
            half a ranking.
        BodyError: the body collapses, which offline rankings can't.
        SearchRejected, IndexMissing, SpaceMismatch: as `HybridRanker.search`.
    """
    profile = ranker.profile_of(profile)
    body = profile.body if body is None else body
    if body is not None and "collapse" in body:
        raise BodyError("a body that collapses can't be tuned: leave 'collapse' out, and serve with it")
    template = ranking_template(body)
    depth = profile.depth if depth is None else depth
    all_legs = _all_legs(profile, depth)
    found: dict[str, CollectedQuery] = {}
    states: dict[str, Counter[str]] = {leg: Counter() for leg in LEGS}
    reasons: dict[str, str] = {}
    fields: set[tuple[str, str]] = set()
    with ExitStack() as stack:
        legs = _Legs(ranker, stack.enter_context(closing(LegCache(cache))) if cache is not None else None)
        for id, text in queries.items():
            filled = fill_template(template, text)
            request, looked_up = ranker.prepare(
                index, filled, text=text, profile=all_legs, size=0, from_=0, leave_one_out=leave_one_out
            )
            found[id], reports = legs.collect(request, looked_up)
            fields.add((request.field, request.target.serving or request.field))
            if len(fields) > 1:
                raise SearchUnavailable(f"{_MOVED.format(request.target.expression)}: collect again")
            for leg, report in reports.items():
                states[leg][report.state] += 1
                if report.state == "failed":
                    raise SearchUnavailable(f"{leg} failed for the query {id!r}: {report.reason}")
                reasons.setdefault(leg, str(report.reason))
            if progress is not None:
                progress()
    expression = index if isinstance(index, str) else ",".join(index)
    counts = {leg: dict(count) for leg, count in states.items()}
    silent = {leg: reason for leg, reason in reasons.items() if not counts[leg].get("ok")}
    searched, serving = next(iter(fields), (None, None))
    return Collected(expression, found, replace(profile, body=body), depth, counts, silent, searched, serving)


def _all_legs(profile: Profile, depth: int) -> Profile:
    """The profile by which every leg runs, and by whose click evidence any support can be told."""
    settings = ClickSettings()
    clicks = replace(profile.clicks, segment_weights=None, support=profile.clicks.support or settings.support)
    weights = dict.fromkeys(LEGS, 1.0)
    plain = replace(
        profile, weights=weights, clicks=clicks, depths={}, rules=(), body=None, execution="client"
    )
    return patient(plain, depth)


class _Legs:
    """Asks the legs, or the cache."""

    def __init__(self, ranker: HybridRanker, cache: LegCache | None) -> None:
        self._client = ranker.client
        self._cache = cache
        self._states: dict[str, str] = {}

    def collect(
        self, request: Request, looked_up: Callable[[], Clicked]
    ) -> tuple[CollectedQuery, Mapping[str, LegReport]]:
        """What the legs bring, and how each fared."""
        answers = self._answers(request)
        legs = {leg: list(_pairs(answer)) for leg, answer in answers.items()}
        clicked = looked_up()
        one_name = len(request.target.indices) == 1 and not routed(answers)
        named = _named(clicked.evidence)
        brought = {key for pairs in legs.values() for key, _ in pairs}
        there = {key for key in brought if one_name and key.id in named}
        asked = sorted(named - {key.id for key in there})
        if asked:
            answers["clicks"], _ = check(self._client, request, asked, (), plainly=routed(answers))
            there |= {key_of(hit) for hit in answers["clicks"].hits}
        reports = read_answers(request, clicked, answers).reports
        for leg, answer in answers.items():
            if any(hit["_index"] not in request.target.indices for hit in answer.hits):
                raise SearchUnavailable(f"{_MOVED.format(request.target.expression)}: collect again")
            if answer.error is None and answer.partial:
                raise SearchUnavailable(
                    f"{leg} gave a part of its hits for {request.text!r}: {answer.partial}"
                )
        found = CollectedQuery.of(
            request.text,
            legs,
            evidence=clicked.evidence,
            there=there,
            settles=one_name,
            filtered=request.filters.clause is not None,
            similarity=request.similarity,
        )
        return found, reports

    def _answers(self, request: Request) -> dict[str, Answer]:
        expression = request.target.expression
        if self._cache is None:
            return ask_legs(self._client, request)
        if expression not in self._states:
            self._states[expression] = index_state(self._client, expression)
            self._cache.forget_older(expression, self._states[expression])
        state = self._states[expression]
        kept = self._cache.get(request, state)
        if kept is not None:
            return {leg: _answer(pairs) for leg, pairs in kept.items()}
        answers = ask_legs(self._client, request)
        if all(answer.error is None and not answer.partial for answer in answers.values()):
            self._cache.put(request, state, {leg: _pairs(answer) for leg, answer in answers.items()})
        return answers


def _named(evidence: ClickEvidence | None) -> set[str]:
    """The ids of all documents that may come out of the click leg, however it is supported."""
    if evidence is None:
        return set()
    names = evidence.clicks.names.values() if evidence.clicks else ()
    return {*evidence.scores, *names}


def _pairs(answer: Answer) -> Pairs:
    """The documents of an answer that have a score, in the server's order."""
    scored = ((key_of(hit), hit.get("_score")) for hit in answer.hits)
    return [(key, score) for key, score in scored if score is not None and math.isfinite(score)]


def _answer(pairs: Pairs) -> Answer:
    """What the server said, as far as it matters."""
    hits = [
        {"_id": key.id, "_index": key.index_name, "_score": score}
        | ({"_routing": key.routing} if key.routing else {})
        for key, score in pairs
    ]
    return Answer(200, None, {"hits": {"hits": hits}})
