"""`trifuse fetch-trials` against a local server that speaks the registry's API."""

from __future__ import annotations

import email.utils
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import fetch as command
from trifuse.indexer.errors import RegistryError
from trifuse.indexer.fetch import Politeness, StudyQuery, fetch_studies
from trifuse.indexer.readers import Record, read_trials

Params = dict[str, str]
Answer = tuple[int, dict[str, str], bytes]
QUICK = Politeness(interval_s=0.0, retries=3, backoff_s=0.01, timeout_s=0.3)


def study(number: int) -> dict[str, Any]:
    return {"protocolSection": {"identificationModule": {"nctId": f"NCT{number:08}", "briefTitle": "ü\n"}}}


class Registry:
    """A registry of some studies; `faults` are answers that come first, or calls that misbehave."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.asked: list[Params] = []
        self.paths: list[str] = []
        self.faults: list[Answer | Callable[[], None]] = []
        self.url = ""

    def answer(self, params: Params) -> Answer:
        start = int(params.get("pageToken", "t0")[1:])
        stop = min(start + int(params["pageSize"]), self.total)
        page: dict[str, Any] = {"studies": [study(n) for n in range(start, stop)]}
        if stop < self.total:
            page["nextPageToken"] = f"t{stop}"
        if params.get("countTotal") == "true":
            page["totalCount"] = self.total
        return 200, {"Content-Type": "application/json"}, json.dumps(page, indent=2).encode()


@contextmanager
def serving(registry: Registry) -> Iterator[Registry]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            params = {name: values[0] for name, values in parse_qs(url.query).items()}
            registry.asked.append(params)
            registry.paths.append(url.path)
            fault = registry.faults.pop(0) if registry.faults else None
            if callable(fault):
                fault()
            status, headers, body = fault if isinstance(fault, tuple) else registry.answer(params)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client has given up on us

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.url = f"http://127.0.0.1:{server.server_port}/api/v2"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def registry() -> Iterator[Registry]:
    with serving(Registry(total=25)) as running:
        yield running


def ids(lines: Iterator[bytes]) -> list[int]:
    return [
        int(json.loads(line)["protocolSection"]["identificationModule"]["nctId"].removeprefix("NCT"))
        for line in lines
    ]


def fetch(registry: Registry, limit: int = 100, **options: Any) -> Iterator[bytes]:
    options.setdefault("polite", QUICK)
    return fetch_studies(
        StudyQuery(condition="ferns"), limit=limit, api=registry.url, page_size=10, **options
    )


def test_pages_are_followed_by_their_tokens(registry: Registry) -> None:
    totals: list[int] = []
    assert ids(fetch(registry, on_total=totals.append)) == list(range(25))
    assert totals == [25]
    assert registry.paths == ["/api/v2/studies"] * 3
    assert [params.get("pageToken") for params in registry.asked] == [None, "t10", "t20"]
    assert all(params["query.cond"] == "ferns" for params in registry.asked)
    assert "query.term" not in registry.asked[0]


def test_studies_by_their_ids(registry: Registry) -> None:
    query = StudyQuery(ids=("NCT00000001", "NCT00000002"))
    list(fetch_studies(query, limit=2, api=registry.url, polite=QUICK))
    assert registry.asked[0]["filter.ids"] == "NCT00000001,NCT00000002"
    assert not {"query.cond", "query.term"} & registry.asked[0].keys()


def test_no_more_than_asked_for(registry: Registry) -> None:
    assert ids(fetch(registry, limit=13)) == list(range(13))
    assert [params["pageSize"] for params in registry.asked] == ["10", "3"]


def test_a_study_is_one_line(registry: Registry) -> None:
    lines = list(fetch(registry, limit=2))
    assert all(b"\n" not in line for line in lines)
    assert json.loads(lines[1]) == study(1)


def test_429_waits_as_long_as_the_registry_asks(registry: Registry) -> None:
    slept: list[float] = []
    soon = email.utils.formatdate(time.time() + 7, usegmt=True)
    registry.faults = [(429, {"Retry-After": "4"}, b""), (429, {"Retry-After": soon}, b""), (429, {}, b"")]
    assert ids(fetch(registry, limit=5, sleep=slept.append)) == list(range(5))
    assert slept[0] == 4.0
    assert 5.0 < slept[1] <= 7.0
    assert slept[2] == 0.04  # the third wait of 0.01, 0.02, 0.04


def test_a_wait_that_is_asked_for_has_a_bound(registry: Registry) -> None:
    slept: list[float] = []
    registry.faults = [(429, {"Retry-After": "86400"}, b"")]
    assert len(ids(fetch(registry, limit=5, sleep=slept.append))) == 5
    assert slept == [120.0]


def test_server_errors_timeouts_and_malformed_pages_pass(registry: Registry) -> None:
    registry.faults = [
        (503, {}, b"busy"),
        lambda: time.sleep(0.6),  # longer than the client waits
        (200, {}, b"<html>maintenance</html>"),
    ]
    assert ids(fetch(registry)) == list(range(25))


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((200, {}, b'{"studies": [{"protocolSection": '), "not a page of studies"),
        ((200, {}, b'{"items": []}'), "not a page of studies"),
        ((502, {}, b""), "HTTP 502"),
    ],
)
def test_a_fault_that_stays_is_an_error_after_what_came_before(
    registry: Registry, answer: Answer, problem: str
) -> None:
    stream = fetch(registry)
    assert len([next(stream) for _ in range(10)]) == 10
    registry.faults = [answer] * 4
    with pytest.raises(RegistryError, match=rf"no usable page 2 in 4 requests; the last: {problem}"):
        next(stream)


def test_a_refusal_is_not_repeated(registry: Registry) -> None:
    registry.faults = [(400, {}, b"unknown parameter\nquery.cond")]
    with pytest.raises(RegistryError, match=r"refused page 1 with HTTP 400: unknown parameter query\.cond"):
        list(fetch(registry))
    assert len(registry.asked) == 1


def test_a_token_that_comes_again_is_an_error(registry: Registry) -> None:
    page = (200, {}, json.dumps({"studies": [study(1)], "nextPageToken": "t1"}).encode())
    registry.faults = [page, page]
    with pytest.raises(RegistryError, match="page 2 names a next page that was read already"):
        list(fetch(registry))


def test_nobody_there() -> None:
    with serving(Registry(0)) as gone:
        pass
    with pytest.raises(RegistryError, match="no usable page 1 in 4 requests; the last: ConnectError"):
        list(fetch(gone))


def test_an_url_that_is_none() -> None:
    with pytest.raises(RegistryError, match="check the URL"):
        list(fetch_studies(StudyQuery(term="x"), limit=1, api="nowhere", polite=QUICK))


def test_requests_keep_their_distance(registry: Registry) -> None:
    slept: list[float] = []
    list(fetch(registry, polite=Politeness(interval_s=50.0), sleep=slept.append))
    assert len(slept) == 2
    assert all(45.0 < wait <= 50.0 for wait in slept)


@pytest.fixture
def app() -> typer.Typer:
    app = typer.Typer()
    command.register(app)
    app.command("other")(lambda: None)
    return app


def test_the_command_writes_what_the_readers_read(
    registry: Registry, app: typer.Typer, tmp_path: Path
) -> None:
    file = tmp_path / "ferns.ndjson.gz"
    arguments = ["fetch-trials", "--condition", "ferns", "--term", "moon", "--max", "12", "--out", str(file)]
    result = CliRunner().invoke(app, [*arguments, "--api", registry.url, "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {"fetched": 12, "file": str(file)}
    assert registry.asked[0]["query.term"] == "moon"
    assert len(gzip.decompress(file.read_bytes()).splitlines()) == 12
    records = [item for item in read_trials([file]) if isinstance(item, Record)]
    assert [record.trial.nct_id for record in records] == [f"NCT{n:08}" for n in range(12)]


def test_the_command_writes_to_stdout(registry: Registry, app: typer.Typer) -> None:
    result = CliRunner().invoke(
        app, ["fetch-trials", "--condition", "ferns", "--max", "3", "--api", registry.url]
    )
    assert result.exit_code == 0, result.output
    assert ids(line.encode() for line in result.stdout.splitlines()) == [0, 1, 2]
    assert "3 trials" in result.stderr


def test_the_command_says_what_was_written_before_a_fault(registry: Registry, app: typer.Typer) -> None:
    registry.faults = [(400, {}, b"no such condition")]
    result = CliRunner().invoke(app, ["fetch-trials", "--condition", "ferns", "--api", registry.url])
    assert isinstance(result.exception, RegistryError)
    assert "no such condition" in str(result.exception)
    assert "(0 trials were written before)" in str(result.exception)


def test_a_fault_before_the_first_trial_leaves_no_file(
    registry: Registry, app: typer.Typer, tmp_path: Path
) -> None:
    registry.faults = [(400, {}, b"no such condition")]
    file = tmp_path / "ferns.ndjson.gz"
    CliRunner().invoke(
        app, ["fetch-trials", "--condition", "ferns", "--api", registry.url, "--out", str(file)]
    )
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say which trials"),
        (["--condition", "x", "--json"], "name a file"),
        (["--condition", "x", "--max", "0"], "--max"),
        (["--condition", "x", "--out", "/nowhere/x.ndjson"], "can't write"),
    ],
)
def test_wrong_usage_ends_with_2(app: typer.Typer, arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["fetch-trials", *arguments])
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
