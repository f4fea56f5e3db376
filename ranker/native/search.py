"""One `_search` in the place of a search for each leg: OpenSearch fuses. The I/O of it.

Aggregations and suggestions, where they are asked for, take one more: they are the lexical leg's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.errors import ProfileNotNative, SearchRejected
from trifuse.ranker.native.query import NativeSearch, beside_body, native_search_of
from trifuse.ranker.native.response import build_native_response, leg_reports, nothing
from trifuse.ranker.native.shaping import Shaping
from trifuse.ranker.request import Request
from trifuse.ranker.server import Answer, as_sent, asking, too_many_terms

_GIVEN_UP = ("clicks", "lexical")
"""Legs with many clauses, in the order in which they are left out where the server takes no more."""


_BEHIND = "Reached end of search result"
"""What the server says of such a page (tried on 3.6.0)."""


class NativeRanker:
    """Ranks by the server's `hybrid` query; safe to share by threads."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client
        self._shaping = Shaping(client)

    def search(self, request: Request, clicked: Clicked, *, started: float) -> dict[str, Any]:
        """Rank, and return a response of the ranker's shape.

        Args:
            request: of a profile and a body that were found to be native.
            clicked: what the click log said: the server needs it with the query.
            started: when the search began, of `time.perf_counter`.

        Raises:
            ProfileNotNative: the server has no `hybrid` query, or the index a pipeline that can't be kept.
            IndexMissing, SearchRejected, SearchUnavailable: there is no answer.
        """
        weights = request.profile.weights_in(clicked.segment)
        responding = self._shaping.processors(request.target.pipeline)
        why_not: dict[str, str] = {}
        while True:
            search = native_search_of(
                request, clicked.scores, weights, without=tuple(why_not), responding=responding
            )
            try:
                answer = nothing(request) if search is None else self._page(request, search)
                break
            except SearchRejected as error:
                legs = list(search.weights) if search else []
                given_up = next((leg for leg in _GIVEN_UP if leg in legs), None)
                if given_up is None or len(legs) == 1 or not too_many_terms(error.error):
                    raise
                why_not[given_up] = "with it the query has more terms than OpenSearch allows"
        beside = {} if "lexical" in why_not else self._beside(request)
        reports = leg_reports(request, clicked, search, Answer.of(answer), why_not)
        took_ms = round((time.perf_counter() - started) * 1000)
        return build_native_response(request, clicked, search, answer, beside, reports, took_ms=took_ms)

    def _page(self, request: Request, search: NativeSearch) -> dict[str, Any]:
        """The answer; where the page begins behind the last hit the server fails, and this one is empty."""
        try:
            return self._ask(request, search.body, search.params)
        except SearchRejected as error:
            if search.body["from"] == 0 or _BEHIND not in str(error):
                raise
        answer = self._ask(request, {**search.body, "from": 0, "size": 1}, search.params)
        return {**answer, "hits": {**answer["hits"], "hits": []}}

    def _beside(self, request: Request) -> dict[str, Any]:
        body = beside_body(request)
        return self._ask(request, body, {**request.url.header, **request.url.naming}) if body else {}

    def _ask(self, request: Request, body: Mapping[str, Any], params: Mapping[str, Any]) -> dict[str, Any]:
        expression = request.target.expression
        try:
            with asking(expression):
                answer: dict[str, Any] = self._client.search(
                    index=expression, body=as_sent(body), params=dict(params)
                )
        except SearchRejected as error:
            if "unknown query [hybrid]" in str(error):
                raise ProfileNotNative(
                    f"the profile {request.profile.name!r} can't run natively: this OpenSearch has no hybrid "
                    "query; install its plugin neural-search, or take the execution 'client'"
                ) from error
            raise
        return answer
