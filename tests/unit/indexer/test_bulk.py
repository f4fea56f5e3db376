"""Bulk writes against a server that fails on demand: a real HTTP server with scripted answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.bulk import Action, bulk, content_limit
from trifuse.indexer.errors import BulkRefused, ServerUnavailable
from trifuse.indexer.retry import Retry

Answer = tuple[int, dict[str, Any]]


class Server:
    """Answers each `_bulk` by the next entry of `script`, then every item with 201.

    An entry is an HTTP status with a body, or a list with a status for each item.
    """

    def __init__(self) -> None:
        self.script: list[Answer | list[int]] = []
        self.requests: list[list[str]] = []
        self.limit = 10_000_000
        self.limit_known = True
        self.pauses: list[float] = []
        self.client: OpenSearch = None  # type: ignore[assignment]

    @property
    def retry(self) -> Retry:
        return Retry(retries=3, first_s=1.0, longest_s=2.0, sleep=self.pauses.append)

    def answer(self, body: bytes) -> Answer:
        if len(body) > self.limit:
            return 413, {}
        heads = [json.loads(line) for line in body.splitlines() if b'"_id"' in line]
        self.requests.append([next(iter(head.values()))["_id"] for head in heads])
        step = self.script.pop(0) if self.script else [201] * len(heads)
        if isinstance(step, tuple):
            return step
        items = []
        for head, status in zip(heads, step, strict=True):
            ((op, entry),) = head.items()
            item: dict[str, Any] = {"_id": entry["_id"], "status": status, "result": "created"}
            if status >= 300:
                item["error"] = {
                    "type": "some_exception",
                    "reason": "outer",
                    "caused_by": {"reason": "inner"},
                }
            items.append({op: item})
        return 200, {"errors": any(s >= 300 for s in step), "items": items}


@pytest.fixture
def server() -> Iterator[Server]:
    script = Server()

    class Handler(BaseHTTPRequestHandler):
        def _send(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self._send(*script.answer(body))

        def do_GET(self) -> None:
            http = {"max_content_length_in_bytes": script.limit} if script.limit_known else {}
            self._send(200, {"nodes": {"n": {"http": http}}})

        def log_message(self, format: str, *args: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.client = OpenSearch(f"http://127.0.0.1:{http.server_port}", max_retries=0)
    yield script
    script.client.close()
    http.shutdown()
    thread.join()
    http.server_close()


def _actions(count: int, text: str = "x") -> list[Action]:
    return [Action(op="index", index="i", id=str(n), source={"t": text}) for n in range(count)]


def _busy(status: int = 429) -> Answer:
    return status, {"error": {"type": "rejected_execution_exception", "reason": "busy"}, "status": status}


@pytest.mark.parametrize("busy", [lambda: [429], _busy], ids=["item", "request"])
def test_b3_429_then_success(server: Server, busy: Callable[[], Any]) -> None:
    """429, 429, 201, of the item or of the request: one success, after two pauses that grow."""
    server.script = [busy(), busy()]
    outcome = bulk(server.client, _actions(1), retry=server.retry)
    (item,) = outcome.items
    assert (item.ok, item.status, item.attempts) == (True, 201, 3)
    assert server.requests == [["0"]] * 3
    first, second = server.pauses
    assert 0.5 <= first <= 1.0
    assert 1.0 <= second <= 2.0


def test_b4_only_what_may_go_well_is_tried_again(server: Server) -> None:
    server.script = [[201] * 98 + [429, 400]]
    outcome = bulk(server.client, _actions(100), retry=server.retry)
    assert server.requests[1:] == [["98"]]
    assert [item.position for item in outcome.items] == list(range(100))
    (failed,) = outcome.failed
    assert (failed.action.id, failed.status, failed.reason) == ("99", 400, "outer: inner")


def test_an_item_that_stays_busy_is_reported(server: Server) -> None:
    server.script = [[201, 429], [429], [429], [429]]
    outcome = bulk(server.client, _actions(2), retry=server.retry)
    (failed,) = outcome.failed
    assert (failed.action.id, failed.status, failed.attempts, failed.retryable) == ("1", 429, 4, True)
    assert len(server.pauses) == 3
    assert server.pauses[2] <= 2.0


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_stays_busy(server: Server, status: int) -> None:
    server.script = [_busy(status)] * 4
    with pytest.raises(ServerUnavailable, match=f"failed 4 times, at last with {status}"):
        bulk(server.client, _actions(1), retry=server.retry)


def test_nobody_listens() -> None:
    client = OpenSearch("http://127.0.0.1:9", max_retries=0)
    pauses: list[float] = []
    with pytest.raises(ServerUnavailable, match="failed 3 times"):
        bulk(client, _actions(1), retry=Retry(retries=2, sleep=pauses.append))
    assert len(pauses) == 2
    client.close()


@pytest.mark.parametrize("status", [400, 401, 403])
def test_a_refusal_of_the_whole_request_is_not_repeated(server: Server, status: int) -> None:
    server.script = [_busy(status)]
    with pytest.raises(BulkRefused, match=f"with {status}"):
        bulk(server.client, _actions(1), retry=server.retry)
    assert server.pauses == []


@pytest.mark.parametrize("known", [True, False], ids=["limit known", "limit unknown"])
def test_b5_one_large_record_among_ordinary_ones(server: Server, known: bool) -> None:
    """Where the limit is unknown, 413 is answered, and the request halved until the large one is alone."""
    server.limit, server.limit_known = 2_000_000, known
    large = Action(op="index", index="i", id="large", source={"t": "x" * 5_000_000})
    actions = [*_actions(100), large, *_actions(200)]
    outcome = bulk(server.client, actions, retry=server.retry)
    (failed,) = outcome.failed
    limit = 2_000_000 if known else 100 * 2**20
    size = len('{"index":{"_index":"i","_id":"large"}}\n{"t":""}\n') + 5_000_000
    assert (failed.position, failed.status, failed.attempts) == (100, 413, 0)
    assert f"takes {size} bytes" in failed.reason
    assert f"{limit} bytes (http.max_content_length)" in failed.reason
    assert len([item for item in outcome.items if item.ok]) == 300


def test_a_request_too_large_for_the_server_is_halved(server: Server) -> None:
    """Four documents of 300 kB, a limit of 700 kB: two requests of two."""
    server.limit = 700_000
    outcome = bulk(server.client, _actions(4, "x" * 300_000), retry=server.retry)
    assert server.requests == [["0", "1"], ["2", "3"]]
    assert not outcome.failed


def test_requests_by_count_and_bytes(server: Server) -> None:
    bulk(server.client, _actions(5), max_items=2, retry=server.retry)
    assert [len(ids) for ids in server.requests] == [2, 2, 1]
    server.requests.clear()
    line = len('{"index":{"_index":"i","_id":"0"}}\n{"t":"x"}\n')
    bulk(server.client, _actions(5), max_bytes=3 * line, retry=server.retry)
    assert [len(ids) for ids in server.requests] == [3, 2]


def test_what_cannot_be_written_is_named_and_the_rest_sent(server: Server) -> None:
    bad = Action(op="index", index="i", id="bad", source={"t": float("nan")})
    outcome = bulk(server.client, [bad, *_actions(1)], retry=server.retry)
    first, second = outcome.items
    assert (first.status, second.status) == (400, 201)
    assert first.reason == "document 'bad' of index 'i': field 't' is nan, which JSON can't hold"
    assert server.requests == [["0"]]


def test_nothing_to_write(server: Server) -> None:
    assert bulk(server.client, [], retry=server.retry).items == ()
    assert server.requests == []


def test_the_limit_is_read_or_taken_as_the_default(server: Server) -> None:
    server.limit = 12_345
    assert content_limit(server.client) == 12_345
    server.limit_known = False
    assert content_limit(server.client) == 100 * 2**20
