"""How the command line ends where a service isn't what its URL says: one sentence, its remedy, status 1."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import opensearchpy
import pytest
import redis

from trifuse.deploy.cli import app as module
from trifuse.deploy.cli import evaluating, sync
from trifuse.deploy.config import Settings, opensearch_client, require_opensearch
from trifuse.deploy.errors import NotAnswering, NotConfigured
from trifuse.deploy.local.opensearch import answering_pid
from trifuse.deploy.local.status import status_of
from trifuse.encoder import DEFAULT_ENCODER

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server that answers everything so, and tells its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(status: int, body: str, kind: str = "application/json") -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://me:secret@127.0.0.1:{servers[-1].server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def settings_of(url: str) -> Settings:
    return Settings(url, None, None, DEFAULT_ENCODER)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((200, "<html>hello</html>", "text/html"), "isn't OpenSearch"),
        ((404, "<html>gone</html>", "text/html"), "isn't OpenSearch: status 404"),
        ((200, '{"hello": 1}'), "isn't OpenSearch"),
        ((200, "[]"), "isn't OpenSearch"),
        ((401, ""), r"refuses the user, or wants one \(status 401\)"),
    ],
    ids=["page", "404", "json", "list", "401"],
)
def test_what_isnt_opensearch_is_said_before_use(serve: Serve, answer: tuple[object], why: str) -> None:
    settings = settings_of(serve(*answer))
    with opensearch_client(settings) as client, pytest.raises(NotAnswering, match=why) as caught:
        require_opensearch(client, settings)
    assert "secret" not in str(caught.value)
    assert "OPENSEARCH_URL" in str(caught.value)
    (problem,) = status_of(settings, None).problems
    assert problem == str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        (200, '{"version": {"number": "3.6.0"}}'),
        (403, '{"error": "no permissions for that"}'),
        (429, '{"error": {"type": "rejected_execution_exception", "reason": "no room"}}'),
        (503, '{"error": "no master yet"}'),
    ],
)
def test_an_opensearch_is_accepted_also_where_it_doesnt_tell_its_version(
    serve: Serve, answer: tuple[object]
) -> None:
    settings = settings_of(serve(*answer))
    with opensearch_client(settings) as client:
        assert require_opensearch(client, settings) is client


@pytest.mark.parametrize("url", ["http://me:secret@host:99999", "http://me:secret@[::1"])
def test_a_url_that_is_none(url: str) -> None:
    with pytest.raises(NotConfigured, match="is no URL that can be used") as caught:
        opensearch_client(settings_of(url))
    assert "secret" not in str(caught.value)


def test_which_process_answers_is_asked_of_itself(serve: Serve) -> None:
    """Another server may take a port between its being found free and ours being there."""
    nodes = {"nodes": {"x": {"process": {"id": 4711}}}}
    assert answering_pid(serve(200, json.dumps(nodes))) == 4711
    assert answering_pid(serve(200, "[]")) is None
    assert answering_pid("http://127.0.0.1:1") is None


CLOSED = {"error": {"type": "index_closed_exception", "reason": "closed", "index": "i"}}
BLOCKED = {"error": {"type": "cluster_block_exception", "reason": "index [i] blocked by: [x (api)];"}}


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (opensearchpy.AuthenticationException(401, "", None), "refused with status 401: ; check the user"),
        (opensearchpy.AuthorizationException(403, "", BLOCKED), "blocked by: [x (api)]; free disk"),
        (opensearchpy.RequestError(400, "index_closed_exception", CLOSED), "closed; open the index (POST"),
        (opensearchpy.TransportError(429, "busy", {"error": "busy"}), "status 429: busy; do the same again"),
        (opensearchpy.TransportError(502, "<p>" * 1000, "<p>"), "..."),
        (opensearchpy.SerializationError("not JSON"), "isn't OpenSearch (not JSON)"),
        (redis.exceptions.TimeoutError("slow"), "Redis can't be reached: slow"),
        (redis.exceptions.ResponseError("OOM"), "Redis refused: OOM"),
        (OSError(28, "No space left on device"), "No space left on device; check the disk"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_of_a_service_is_a_sentence(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(module, "app", fail)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 1
    told = capsys.readouterr().err
    assert said in told
    assert len(told) < 600


@pytest.mark.parametrize("of", ["a loop", "no user"])
def test_a_path_that_cannot_be_resolved_is_a_sentence(
    of: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """pathlib's error for both is a RuntimeError; any other one is a fault of the code."""
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    monkeypatch.setattr(module, "app", loop.resolve if of == "a loop" else Path("~nobody-here/x").expanduser)
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 1
    assert "check the paths, then do the same again" in capsys.readouterr().err
    monkeypatch.setattr(module, "app", lambda: (_ for _ in ()).throw(RuntimeError("a fault")))
    with pytest.raises(RuntimeError, match="a fault"):
        module.main()


@pytest.mark.parametrize("answer", [(200, "<html>hello</html>", "text/html"), (200, '{"hello": 1}')])
@pytest.mark.parametrize(
    "command",
    [
        ["search", "trials", "stroke", "--profile", "lexical=1"],
        ["search", "trials", "stroke", "--profile", "mine"],
        ["evaluate", "trials", "--queries", "q.tsv", "--qrels", "r.txt", "--profile", "lexical=1"],
        ["tune", "trials", "--queries", "q.tsv", "--qrels", "r.txt", "--folds", "2"],
        ["profile", "list"],
        ["profile", "set", "mine", "--from", "lexical=1"],
        ["profile", "history", "mine"],
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_a_command_says_that_another_server_answers(
    serve: Serve,
    answer: tuple[object],
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRIFUSE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(evaluating, "query_encoder", lambda settings, **options: None)
    Path("q.tsv").write_text("q1\tstroke\nq2\tasthma\n")
    Path("r.txt").write_text("q1 0 d 1\nq2 0 d 1\n")
    monkeypatch.setattr(sys, "argv", ["trifuse", *command, "--opensearch", serve(*answer)])
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 1
    told = capsys.readouterr()
    assert "isn't OpenSearch" in told.err
    assert "secret" not in told.out + told.err


def test_ctrl_c_in_a_command_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(**options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sync, "resolve", interrupted)
    monkeypatch.setattr(sys, "argv", ["trifuse", "sync", "trials", "--wait"])
    with pytest.raises(SystemExit) as caught:
        module.main()
    assert caught.value.code == 130
    told = capsys.readouterr().err
    assert told == "trifuse: interrupted: what was done stays, and the same command goes on from there\n"


def test_ctrl_c_while_the_commands_are_imported_is_a_sentence() -> None:
    code = """if True:
        import sys, trifuse.deploy.cli as cli
        assert not {"typer", "rich", "opensearchpy"} & set(sys.modules), "imported before main can see Ctrl-C"
        class Interrupted:
            def find_spec(self, name, path=None, target=None):
                if name == "trifuse.deploy.cli.app":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Interrupted())
        cli.main()
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "trifuse: interrupted\n")
