"""Lexical, dense and clicks in one ranking, over the user's own index and query body."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from opensearchpy import OpenSearch

from trifuse.encoder.types import Encoder
from trifuse.ranker.body import read_body
from trifuse.ranker.clicked import Clicked
from trifuse.ranker.errors import BodyError, RankerError, SearchRejected
from trifuse.ranker.fuse import Candidate, fuse
from trifuse.ranker.lookups import Lookups
from trifuse.ranker.page import collapse, group_values, key_of, page_body
from trifuse.ranker.params import read_params
from trifuse.ranker.plan import plan_filters
from trifuse.ranker.profiles import MAX_DEPTH, Profile
from trifuse.ranker.request import Request
from trifuse.ranker.response import build_response, fused_hit, total_hits
from trifuse.ranker.retrieved import Retrieved, read_answers, unchecked
from trifuse.ranker.server import Answer, asking, too_many_terms
from trifuse.ranker.signals import encode
from trifuse.ranker.target import check_collapse, index_expression
from trifuse.ranker.targets import Targets
from trifuse.ranker.types import ClickLookup, Key


class HybridRanker:
    """Ranks by three signals; safe to share by threads.

        ranker = HybridRanker(client, encoder, ClickStore(redis, client))
        response = ranker.search("trials", {"query": {...}, "highlight": {...}}, text="stroke in adults")

    Args:
        encoder: makes the query's vector; None leaves the dense leg out.
        clicks: where click evidence comes from; None leaves the click leg out.
        profile: weights, depth and fusion; a search may use another.
    """

    def __init__(
        self,
        client: OpenSearch,
        encoder: Encoder | None = None,
        clicks: ClickLookup | None = None,
        profile: Profile | None = None,
    ) -> None:
        self._client = client
        self._encoder = encoder
        self._lookups = Lookups(clicks)
        self._profile = profile or Profile()
        self._targets = Targets(client)

    def search(
        self,
        index: str | Sequence[str],
        body: Mapping[str, Any] | None = None,
        *,
        text: str,
        filter: Mapping[str, Any] | None = None,
        size: int | None = None,
        from_: int | None = None,
        explain: bool | None = None,
        params: Mapping[str, Any] | None = None,
        profile: Profile | None = None,
        leave_one_out: bool = False,
    ) -> dict[str, Any]:
        """Rank, and return a response of OpenSearch's shape.

        Args:
            index: a name, an alias, a pattern, or a list of them.
            body: the user's own `_search` body; its query is the lexical leg, as it is. Without a query the
                lexical leg is a `multi_match` of the text over the fields that were embedded.
            text: what the user typed: the dense and the click leg go by it.
            filter: one query that every hit must match, beside what the body's query requires.
            size, from_, explain: replace the body's.
            params: what the user's `_search` URL has: `routing`, `preference`, `typed_keys`.
            profile: replaces the ranker's.
            leave_one_out: rank as if the click log didn't have this very query: for evaluations.

        Returns:
            hits with `_score` fused and `trifuse.legs`; `trifuse` with the state of each leg, the filters,
            and the query's frequency and segment in the click log.

        Raises:
            BodyError: a key or a page that fusion can't honour: nothing was sent.
            IndexMissing: no index, alias or pattern by that name.
            SpaceMismatch: the index's vectors are in another space than the encoder's: nothing was searched.
            SearchRejected: OpenSearch refused the user's own query.
            SearchUnavailable: OpenSearch didn't answer.
        """
        started = time.perf_counter()
        profile = profile or self._profile
        if not isinstance(text, str):
            raise BodyError(f"text is {text!r}: give the query's text as a string")
        if filter is not None and (not isinstance(filter, Mapping) or not filter):
            raise BodyError(f"filter is {filter!r}: give one query as a JSON object")
        user = read_body({} if body is None else body, depth=profile.depth, start=from_, size=size)
        if explain is not None:
            user = replace(user, page={**user.page, "explain": explain})
        url = read_params(params, text=text)
        expression = index_expression(index)
        for fresh in (False, True):
            target = self._targets.read(expression, url.resolving, fresh=fresh)
            check_collapse(user.collapse, target)
            filters = plan_filters(user, target, filter)
            encoded = encode(text, target, profile, self._encoder)
            looked_up = self._lookups.start(text, target, profile, encoded, leave_one_out=leave_one_out)
            request = Request(text, user, url, target, filters, encoded, profile)
            retrieved = self._retrieve(request, looked_up)
            # A hit from an index that wasn't known: an alias was moved meanwhile, perhaps to another space.
            if all(hit["_index"] in target.indices for hit in retrieved.raw_hits):
                break
        return self._respond(request, retrieved, started)

    def close(self) -> None:
        """End the threads that look up clicks; they end with the ranker too. It can still be used."""
        self._lookups.close()

    def _retrieve(self, request: Request, looked_up: Callable[[], Clicked]) -> Retrieved:
        """Search while the clicks are looked up; then check the clicked documents that no search brought."""
        answers = self._ask(request, request.bodies())
        clicked = looked_up()
        ids = unchecked(request, clicked, answers)
        if ids:
            try:
                answers |= self._ask(request, {"clicks": request.clicks_body(ids)})
            except RankerError as error:
                answers["clicks"] = Answer(503, {"reason": str(error)}, {})
        return read_answers(request, clicked, answers)

    def _ask(self, request: Request, bodies: Mapping[str, dict[str, Any]]) -> dict[str, Answer]:
        if not bodies:
            return {}
        lines = [line for body in bodies.values() for line in (request.header, body)]
        with asking(request.target.expression):
            answer = self._client.msearch(body=lines, params=dict(request.url.naming))
        items = zip(bodies, answer["responses"], strict=True)
        return {leg: Answer.of(item) for leg, item in items}

    def _respond(self, request: Request, retrieved: Retrieved, started: float) -> dict[str, Any]:
        user, field = request.user, request.user.collapse
        space = request.target.space_of(request.profile.vector_field)
        similarity = space.encoder.similarity if space else None
        segment = retrieved.clicked.segment
        fusion = fuse(retrieved.hits, request.profile, segment=segment, similarity=similarity)
        groups = group_values(retrieved.raw_hits, field) if field is not None else {}
        places = collapse(fusion.keys, groups) if field is not None else range(len(fusion.keys))
        page = [fusion.candidate(place) for place in places[user.start : user.start + user.size]]
        fetched = self._fetch(request, retrieved, page)
        hits = [
            fused_hit(
                fetched[each.key], each, similarity, {field: [groups[each.key]]} if field is not None else {}
            )
            for each in page
            if each.key in fetched
        ]
        return build_response(
            request,
            retrieved,
            total=total_hits(request, retrieved) if user.tracks_total else None,
            max_score=float(fusion.scores[0]) if fusion.keys else None,
            hits=hits,
            took_ms=round((time.perf_counter() - started) * 1000),
        )

    def _fetch(
        self, request: Request, retrieved: Retrieved, page: Sequence[Candidate]
    ) -> dict[Key, Mapping[str, Any]]:
        """The page's documents; one that was deleted meanwhile is missing."""
        if not page:
            return {}
        query = request.query if retrieved.reports["lexical"].state != "failed" else None
        keys = [candidate.key for candidate in page]
        size = len(keys)
        while True:
            body = page_body(request.user, query, keys, request.target.vector_fields(), size=size)
            try:
                with asking(request.target.expression):
                    answer = self._client.search(
                        index=request.target.expression, body=body, params=dict(request.url.header)
                    )
            except SearchRejected as error:
                # The lexical leg would have said so, had it run.
                if query is None or not too_many_terms(error.error):
                    raise
                query = None
                continue
            fetched = {key_of(hit): hit for hit in answer["hits"]["hits"]}
            # Documents with the same ids and other routings may have taken the places of those asked for.
            if len(fetched) < size or fetched.keys() >= set(keys) or size == MAX_DEPTH:
                return fetched
            size = min(10 * size, MAX_DEPTH)
