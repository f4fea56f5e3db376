from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, cast

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError, TransportError

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.errors import ProfileNotNative, SearchRejected
from trifuse.ranker.native import NativeRanker
from trifuse.ranker.request import Request
from trifuse.ranker.types import LegReport

CLICKED = Clicked(LegReport("ok"), ClickEvidence({"a": 0.5}))
TOO_MANY = {"error": {"type": "too_many_nested_clauses", "reason": "maxClauseCount is set to 1024"}}
ANSWER = {"took": 1, "timed_out": False, "_shards": {}, "hits": {"max_score": None, "hits": []}}
RequestOf = Callable[..., Request]


class Server:
    """Refuses some searches, in order, then answers; what it was asked."""

    def __init__(self, *refusals: Exception) -> None:
        self.refusals = list(refusals)
        self.asked: list[int] = []

    def search(self, *, index: str, body: str, params: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(len(json.loads(body)["query"]["hybrid"]["queries"]))
        if self.refusals:
            raise self.refusals.pop(0)
        return ANSWER


def search(server: Server, request: Request) -> dict[str, Any]:
    ranker = NativeRanker(cast(OpenSearch, server))
    return ranker.search(request, CLICKED, started=time.perf_counter())


def test_clicks_give_way_first_and_then_the_users_query(request_of: RequestOf) -> None:
    server = Server(TransportError(500, "", TOO_MANY), TransportError(400, "", TOO_MANY))
    legs = search(server, request_of())["trifuse"]["legs"]
    assert server.asked == [3, 2, 1]
    assert [legs[leg]["state"] for leg in ("lexical", "dense", "clicks")] == ["failed", "ok", "failed"]
    assert [legs[leg]["weight"] for leg in ("lexical", "dense", "clicks")] == [0.0, 1.0, 0.0]


def test_a_total_without_the_users_query_is_a_lower_bound(
    request_of: RequestOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = {"total": {"value": 3, "relation": "eq"}, "max_score": None, "hits": []}
    monkeypatch.setitem(ANSWER, "hits", counted)
    assert search(Server(), request_of())["hits"]["total"] == {"value": 3, "relation": "eq"}
    failing = Server(*[TransportError(500, "", TOO_MANY) for _ in range(2)])
    assert search(failing, request_of())["hits"]["total"] == {"value": 3, "relation": "gte"}


def test_the_last_leg_doesnt_give_way(request_of: RequestOf) -> None:
    server = Server(*[RequestError(400, "", TOO_MANY) for _ in range(3)])
    with pytest.raises(SearchRejected, match="maxClauseCount"):
        search(server, request_of(encoded=False))
    assert server.asked == [2, 1]


def test_a_server_without_the_plugin(request_of: RequestOf) -> None:
    unknown = {"error": {"type": "parsing_exception", "reason": "unknown query [hybrid]"}}
    with pytest.raises(ProfileNotNative, match=r"'mine' can't run natively: .*neural-search"):
        search(Server(RequestError(400, "", unknown)), request_of())


def test_another_refusal_is_handed_on(request_of: RequestOf) -> None:
    other = {"error": {"type": "parsing_exception", "reason": "unknown query [nope]"}}
    with pytest.raises(SearchRejected, match=r"unknown query \[nope\]"):
        search(Server(RequestError(400, "", other)), request_of())
