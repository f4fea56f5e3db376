from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from opensearchpy.exceptions import ConnectionError as NoConnection
from opensearchpy.exceptions import ConnectionTimeout, NotFoundError, RequestError, TransportError
from opensearchpy.serializer import JSONSerializer

from trifuse.ranker.errors import BodyError, IndexMissing, RankerError, SearchRejected, SearchUnavailable
from trifuse.ranker.server import Answer, as_sent, asking, reason_of, too_many_terms

TOO_MANY = {
    "type": "search_phase_execution_exception",
    "root_cause": [{"type": "query_shard_exception", "reason": "failed to create query"}],
    "failed_shards": [
        {
            "reason": {
                "type": "query_shard_exception",
                "caused_by": {"type": "too_many_clauses", "reason": "1024"},
            }
        }
    ],
}


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (NotFoundError(404, "index_not_found_exception", {}), IndexMissing),
        (NoConnection("N/A", "refused", None), SearchUnavailable),
        (ConnectionTimeout("TIMEOUT", "timed out", None), SearchUnavailable),
        (TransportError(503, "unavailable", {}), SearchUnavailable),
        (TransportError(429, "rejected", {}), SearchUnavailable),
        (RequestError(400, "parsing", {"error": {"reason": "unknown query [x]"}}), SearchRejected),
        (RequestError(400, "parsing", "text"), SearchRejected),
    ],
)
def test_the_clients_failures_are_the_rankers(failure: Exception, expected: type[RankerError]) -> None:
    with pytest.raises(expected), asking("i"):
        raise failure


def test_a_failure_of_the_server_says_why() -> None:
    error = {"type": "search_phase_execution_exception", "root_cause": [{"reason": "can't be sorted"}]}
    with pytest.raises(SearchUnavailable, match="answered 500: can't be sorted; try again"), asking("i"):
        raise TransportError(500, "search_phase_execution_exception", {"error": error})


def test_opensearchs_error_is_handed_on() -> None:
    error = {"type": "parsing_exception", "reason": "unknown query [x]"}
    with pytest.raises(SearchRejected, match=r"unknown query \[x\]") as refused, asking("i"):
        raise RequestError(400, "parsing_exception", {"error": error, "status": 400})
    assert (refused.value.status, refused.value.error) == (400, error)


@pytest.mark.parametrize(
    ("error", "many"),
    [
        (TOO_MANY, True),
        ({"type": "too_many_nested_clauses"}, True),
        ({"root_cause": [{"type": "too_many_clauses"}]}, True),
        ({"type": "parsing_exception", "reason": "too_many_clauses"}, False),
        ({"type": "too_many_buckets_exception"}, False),
        ({}, False),
    ],
)
def test_too_many_terms(error: dict[str, Any], many: bool) -> None:
    assert too_many_terms(error) is many


def test_answers() -> None:
    failed = Answer.of({"status": 400, "error": {"reason": "no"}})
    assert (failed.status, failed.error, failed.hits, failed.took_ms) == (400, {"reason": "no"}, [], 0)
    found = Answer.of({"status": 200, "took": 3, "hits": {"hits": [{"_id": "1"}]}, "_shards": {"failed": 0}})
    assert (found.error, found.hits, found.took_ms, found.partial) == (None, [{"_id": "1"}], 3, None)


def test_what_is_missing_is_said() -> None:
    shards = {"total": 3, "failed": 1, "failures": [{"reason": {"reason": "broken"}}]}
    assert Answer.of({"_shards": shards}).partial == "1 of 3 shards failed: broken"
    assert Answer.of({"timed_out": True}).partial == "time ran out: hits may be missing"


def test_reasons() -> None:
    assert reason_of(TOO_MANY) == "failed to create query"
    assert reason_of({"type": "x"}) == "x"
    assert reason_of({"reason": "a", "caused_by": {"reason": "b"}}) == "a: b"


@pytest.mark.parametrize(
    "body",
    [
        {"query": {"knn": {"v": {"vector": [0.1, -2.5e-08, 1.0], "k": 3}}}},
        {"query": {"match": {"title": 'naïve "quotes"\n\u2028'}}, "from": 0, "_source": False, "x": None},
    ],
)
def test_a_body_is_sent_as_the_clients_own_serializer_would(body: dict[str, Any]) -> None:
    sent = as_sent(body)
    assert isinstance(sent, str)
    assert "\n" not in sent
    assert json.loads(sent) == json.loads(JSONSerializer().dumps(body)) == body


def test_a_decimal_is_a_number() -> None:
    assert as_sent({"boost": Decimal("1.5")}) == '{"boost":1.5}'


@pytest.mark.parametrize("value", [np.float32(1.5), "half a pair: \ud83d", object()])
def test_what_only_the_client_knows_is_left_to_it(value: Any) -> None:
    body = {"query": {"term": {"x": value}}}
    assert as_sent(body) is body


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_number_in_json_is_refused(number: float) -> None:
    """And not sent as null, by which a boost would be its default."""
    body = {"query": {"match": {"title": {"query": "stroke", "boost": [1.0, number][1]}}}}
    with pytest.raises(BodyError, match=f"holds {number}, which is no number"):
        as_sent(body)
    assert as_sent({"boost": None, "of": [None, {"a": 1.0}]}) == '{"boost":null,"of":[null,{"a":1.0}]}'


def test_a_closed_index_is_named_and_how_to_open_it() -> None:
    """OpenSearch's own reason is "closed"."""
    cause = {"type": "index_closed_exception", "reason": "closed", "index": "trials-1"}
    said = reason_of({**cause, "root_cause": [cause]})
    assert said == "the index trials-1 is closed: open it (POST /trials-1/_open)"
