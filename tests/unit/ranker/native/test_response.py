from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trifuse.ranker.clicked import Clicked
from trifuse.ranker.clicks.evidence import ClickEvidence
from trifuse.ranker.native.query import native_search_of
from trifuse.ranker.native.response import build_native_response, leg_reports, nothing
from trifuse.ranker.request import Request
from trifuse.ranker.server import Answer
from trifuse.ranker.types import LegReport

CLICKED = Clicked(LegReport("ok", took_ms=5), ClickEvidence({"a": 0.5}, frequency=3, segment="TAIL"))
UNTOLD = {"lexical": None, "dense": None, "clicks": None}
RequestOf = Callable[..., Request]


def answer(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "took": 4,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": 9, "relation": "eq"}, "max_score": 0.5, "hits": list(hits)},
        **more,
    }


def respond(
    request: Request, given: dict[str, Any], beside: dict[str, Any] | None = None, **why_not: str
) -> dict[str, Any]:
    weights = request.profile.weights
    search = native_search_of(request, CLICKED.scores, weights, without=tuple(why_not))
    reports = leg_reports(request, CLICKED, search, Answer.of(given), why_not)
    return build_native_response(request, CLICKED, search, given, beside or {}, reports, took_ms=12)


def test_the_shape(request_of: RequestOf) -> None:
    found = respond(request_of(), answer({"_id": "a", "_index": "i", "_score": 0.5}))
    assert found["hits"]["hits"] == [{"_id": "a", "_index": "i", "_score": 0.5, "trifuse": {"legs": UNTOLD}}]
    assert (found["took"], found["hits"]["total"]["value"], found["hits"]["max_score"]) == (12, 9, 0.5)
    told = found["trifuse"]
    assert (told["profile"], told["execution"], told["rule"]) == ("mine", "native", None)
    assert told["query"] == {"frequency": 3, "segment": "TAIL"}
    assert told["legs"]["dense"] == {
        "state": "ok",
        "reason": None,
        "took_ms": 7,
        "hits": None,
        "weight": 0.5,
        "field": "trifuse_vector",
    }
    assert told["legs"]["clicks"]["took_ms"] == 9
    assert "explain" in told["note"]


def test_raw_scores_by_name(request_of: RequestOf) -> None:
    names = {"trifuse.lexical": 7.5, "trifuse.dense": 0.9, "user's": 1.0}
    hit = {"_id": "a", "_index": "i", "_score": 0.5, "matched_queries": names}
    response = respond(request_of(explain=True), answer(hit))
    assert response["trifuse"]["legs"]["clicks"]["queries"] == []
    (found,) = response["hits"]["hits"]
    legs = found["trifuse"]["legs"]
    assert legs["lexical"] == {"score": 7.5, "normalized": None, "weight": 0.25, "rank": None}
    assert round(legs["dense"].pop("similarity"), 6) == 0.8
    assert legs["dense"] == {"score": 0.9, "normalized": None, "weight": 0.5, "rank": None}
    assert legs["clicks"] is None
    assert found["matched_queries"] == ["user's"]
    assert found["_explanation"] == {
        "value": 0.5,
        "description": "legs fused by OpenSearch",
        "details": [
            {"value": 7.5, "description": "lexical: score, weight 0.25", "details": []},
            {"value": 0.9, "description": "dense: score, weight 0.5", "details": []},
        ],
    }


def test_a_users_own_names_stay_as_they_are(request_of: RequestOf) -> None:
    hit = {"_id": "a", "_index": "i", "_score": 0.5, "matched_queries": ["mine"]}
    (found,) = respond(request_of(), answer(hit))["hits"]["hits"]
    assert found["matched_queries"] == ["mine"]
    assert found["trifuse"]["legs"] == UNTOLD


def test_what_is_beside(request_of: RequestOf) -> None:
    beside = answer(aggregations={"n": {"value": 3}}, suggest={"s": []})
    found = respond(request_of(aggs={"n": {}}), answer(), beside)
    assert (found["aggregations"], found["suggest"]) == ({"n": {"value": 3}}, {"s": []})


def test_legs_that_were_left_out(request_of: RequestOf) -> None:
    request = request_of(encoded=False)
    legs = respond(request, answer(), clicks="too many")["trifuse"]["legs"]
    assert (legs["clicks"]["state"], legs["clicks"]["reason"]) == ("failed", "too many")
    assert (legs["dense"]["state"], legs["dense"]["hits"], legs["dense"]["weight"]) == ("off", 0, 0.0)
    assert legs["lexical"]["weight"] == 1.0


def test_what_shards_failed(request_of: RequestOf) -> None:
    shards = {"total": 2, "successful": 1, "failed": 1, "failures": [{"reason": {"reason": "lost"}}]}
    legs = respond(request_of(), answer(_shards=shards))["trifuse"]["legs"]
    assert {each["reason"] for each in legs.values()} == {"1 of 2 shards failed: lost"}


def test_nothing(request_of: RequestOf) -> None:
    assert nothing(request_of())["hits"] == {"total": {"value": 0, "relation": "eq"}, "hits": []}
    assert nothing(request_of(track_total_hits=False))["hits"] == {"hits": []}
    assert respond(request_of(), nothing(request_of()))["hits"]["max_score"] is None
