"""A proxy before OpenSearch that is slow, refuses, or has the process killed that is writing in bulk."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

TOO_MANY = {"error": {"type": "rejected_execution_exception", "reason": "made up"}, "status": 429}
TIMEOUT_S = 120.0

Stage = Literal["before", "after"]
"""Before the bulk write reaches OpenSearch, or when it was done and its answer is on the way."""


class Proxy(ThreadingHTTPServer):
    """Hands requests on to OpenSearch; one is made by `proxied`.

    Args:
        upstream: OpenSearch's URL.

    `slow_s` is added to every bulk write, so that there is a middle of things; `storm` says what is answered
    429: whole requests, every second item of bulk writes, or nothing (""). `writing` is set while a bulk
    write is at OpenSearch. `killed` lists the processes that were killed.
    """

    daemon_threads = True

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        parts = urlsplit(upstream)
        self.upstream = (str(parts.hostname), int(parts.port or 80))
        self.slow_s = 0.0
        self.storm: Literal["", "requests", "items"] = ""
        self.refused = 0
        self.writing = threading.Event()
        self.killed: list[int] = []
        self._stages: list[Stage] = []
        self._victims: Callable[[], set[int]] = set
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news here."""

    def kill_writers(self, victims: Callable[[], set[int]], stages: list[Stage]) -> None:
        """Kill (SIGKILL) for each stage one of the victims, in the middle of its bulk write."""
        self._victims, self._stages = victims, list(stages)

    def kill_writer(self, stage: Stage, port: int) -> bool:
        """Whether the process whose connection has this port was to be killed at this stage, and was."""
        with self._lock:
            if not self._stages or self._stages[0] != stage:
                return False
            pid = _owner(port, self._victims())
            if pid is None:
                return False
            self._stages.pop(0)
            os.kill(pid, signal.SIGKILL)
            self.killed.append(pid)
            return True


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Proxy

    def _relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        is_bulk = urlsplit(self.path).path.endswith("/_bulk") or self.path.startswith("/_bulk")
        if self.server.storm == "requests":
            self.server.refused += 1
            self._answer(429, "application/json", json.dumps(TOO_MANY).encode())
            return
        try:
            status, kind, answer = self._bulk(body) if is_bulk else self._ask(body)
        except (OSError, HTTPException):
            self.close_connection = True  # as a server does that goes away
            return
        self._answer(status, kind, answer)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _relay  # noqa: N815 - as the library calls them

    def _bulk(self, body: bytes) -> tuple[int, str, bytes]:
        proxy, port = self.server, self.client_address[1]
        time.sleep(proxy.slow_s)
        if proxy.kill_writer("before", port):
            raise ConnectionAbortedError
        kept, refused = _every_second(body) if proxy.storm == "items" else (body, {})
        proxy.writing.set()
        status, kind, answer = self._ask(kept) if kept else (200, "application/json", b'{"items": []}')
        proxy.writing.clear()
        if refused and status == 200:
            proxy.refused += len(refused)
            items = iter(json.loads(answer)["items"])
            count = len(refused) + len(json.loads(answer)["items"])
            merged = [refused[place] if place in refused else next(items) for place in range(count)]
            answer = json.dumps({"took": 1, "errors": True, "items": merged}).encode()
        if proxy.kill_writer("after", port):
            raise ConnectionAbortedError
        return status, kind, answer

    def _ask(self, body: bytes) -> tuple[int, str, bytes]:
        connection = HTTPConnection(*self.server.upstream, timeout=TIMEOUT_S)
        try:
            unwanted = {"host", "connection", "content-length", "accept-encoding"}
            headers = {name: value for name, value in self.headers.items() if name.lower() not in unwanted}
            connection.request(self.command, self.path, body or None, headers)
            reply = connection.getresponse()
            return reply.status, reply.getheader("Content-Type") or "application/json", reply.read()
        finally:
            connection.close()

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a line a request helps nobody."""


def _every_second(body: bytes) -> tuple[bytes, dict[int, dict[str, Any]]]:
    """A bulk body without every second action, and what is answered for these, by place."""
    kept: list[bytes] = []
    refused: dict[int, dict[str, Any]] = {}
    lines = iter(body.splitlines())
    for place, head in enumerate(lines):
        operation, where = next(iter(json.loads(head).items()))
        parts = [head] if operation == "delete" else [head, next(lines)]
        if place % 2:
            refused[place] = {operation: {**where, **TOO_MANY}}
        else:
            kept += parts
    return b"".join(line + b"\n" for line in kept), refused


def _owner(port: int, pids: set[int]) -> int | None:
    """Which of these processes has a connection whose own port is `port`."""
    inodes = set()
    for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]:
        fields = line.split()
        if int(fields[1].rpartition(":")[2], 16) == port:
            inodes.add(f"socket:[{fields[9]}]")
    for pid in pids:
        with suppress(OSError):
            for entry in Path(f"/proc/{pid}/fd").iterdir():
                with suppress(OSError):
                    if str(entry.readlink()) in inodes:
                        return pid
    return None


@contextmanager
def proxied(upstream: str) -> Iterator[Proxy]:
    """A proxy that runs while the block does."""
    proxy = Proxy(upstream)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        yield proxy
    finally:
        proxy.shutdown()
        proxy.server_close()
