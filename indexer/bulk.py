"""Write documents in bulk: by bytes and count, with retries, and with an outcome for each of them.

    outcome = bulk(client, [Action(op="index", index="trials", id="1", source={"title": "x"})])
    outcome.failed  # what was refused, each with its reason

What is tried again, after a pause that doubles and is spread at random: the whole request where OpenSearch
didn't answer or answered 429, 502, 503 or 504; single items of a request that were answered so. A request
that was answered 413 is sent in halves. Everything else is reported at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypedDict, Unpack

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError

from trifuse.indexer.actions import Action, Line, Unsendable, chunks, halves, to_ndjson
from trifuse.indexer.errors import BulkRefused, ServerUnavailable
from trifuse.indexer.outcomes import FILTER_PATH, BulkOutcome, ItemOutcome, answered, too_large, unsendable
from trifuse.indexer.retry import Retry, worth_retrying

__all__ = ["Action", "BulkOptions", "BulkOutcome", "ItemOutcome", "bulk", "content_limit", "stream_bulk"]

MAX_BYTES = 8 * 2**20
MAX_ITEMS = 500
DEFAULT_LIMIT = 100 * 2**20
"""OpenSearch's own default of `http.max_content_length`."""

_ASK_FROM = 2**20  # a smaller body fits any server: what it takes isn't asked for


class BulkOptions(TypedDict, total=False):
    """The options of `stream_bulk`."""

    max_bytes: int
    max_items: int
    limit: int | None
    retry: Retry
    refresh: bool
    timeout_s: float
    params: Mapping[str, str]


def content_limit(client: OpenSearch) -> int:
    """The largest request in bytes that every node takes; OpenSearch's default where that can't be read."""
    try:
        nodes = client.nodes.info(metric="http")["nodes"].values()
    except TransportError:
        return DEFAULT_LIMIT
    limits = (node.get("http", {}).get("max_content_length_in_bytes", DEFAULT_LIMIT) for node in nodes)
    return min(limits, default=DEFAULT_LIMIT)


def bulk(client: OpenSearch, actions: Iterable[Action], **options: Unpack[BulkOptions]) -> BulkOutcome:
    """Write all actions, and say what became of each, in their order; see `stream_bulk`."""
    items = sorted(stream_bulk(client, actions, **options), key=lambda item: item.position)
    return BulkOutcome(tuple(items))


def stream_bulk(
    client: OpenSearch,
    actions: Iterable[Action],
    *,
    max_bytes: int = MAX_BYTES,
    max_items: int = MAX_ITEMS,
    limit: int | None = None,
    retry: Retry = Retry(),  # noqa: B008 - frozen
    refresh: bool = False,
    timeout_s: float = 120.0,
    params: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[ItemOutcome]:
    """Write actions as they come, and yield what became of each, once.

    A `create` or a conditional write whose answer got lost is sent again, and may then find its own work: it
    is reported with status 409.

    Args:
        max_bytes, max_items: a request holds no more than either; a document over `max_bytes` is sent alone.
        limit: the largest request in bytes that the server takes; asked for where it first matters.
        retry: how often a request, or an item of one, is tried again.
        refresh: make what is written searchable at once.
        params: more of the `_bulk` API's own, such as `pipeline`.

    Raises:
        ServerUnavailable: a whole request failed in all retries.
        BulkRefused: OpenSearch refused a whole request for another reason.
    """
    asked = {"filter_path": FILTER_PATH, **({"refresh": "true"} if refresh else {}), **params}
    sender = _Sender(client, asked, timeout_s, retry, limit)
    refused: list[ItemOutcome] = []

    def lines() -> Iterator[Line]:
        for position, action in enumerate(actions):
            try:
                yield Line(position, action, to_ndjson(action))
            except Unsendable as error:
                refused.append(unsendable(position, action, str(error)))

    for chunk in chunks(lines(), max_bytes=max_bytes, max_items=max_items):
        yield from sender.send(chunk)
        yield from refused
        refused.clear()
    yield from refused


class _TooLarge(Exception):
    """The server, or a proxy before it, answered 413."""


class _Sender(msgspec.Struct):
    """Sends a chunk, and sends again what is worth it."""

    client: Any
    params: dict[str, str]
    timeout_s: float
    retry: Retry
    limit: int | None

    def send(self, chunk: Sequence[Line]) -> Iterator[ItemOutcome]:
        pending, attempt = list(chunk), 1
        size = sum(len(line.data) for line in pending)
        if size >= _ASK_FROM and size > self._limit():
            yield from self._split(pending)
            return
        while pending:
            try:
                answers = self._post(pending, attempt)
            except _TooLarge:
                yield from self._split(pending)
                return
            again: list[Line] = []
            for line, answer in zip(pending, answers, strict=True):
                outcome = answered(line, answer, attempt)
                if outcome.retryable and attempt <= self.retry.retries:
                    again.append(line)
                else:
                    yield outcome
            pending = again
            if pending:
                self.retry.pause(attempt)
                attempt += 1

    def _split(self, chunk: Sequence[Line]) -> Iterator[ItemOutcome]:
        if len(chunk) == 1:
            yield too_large(chunk[0], self._limit())
            return
        for half in halves(chunk):
            yield from self.send(half)

    def _post(self, chunk: Sequence[Line], attempt: int) -> list[dict[str, Any]]:
        """One request; an answer for each line, also where the whole request is to be tried again."""
        body = b"".join(line.data for line in chunk)
        try:
            answer = self.client.transport.perform_request(
                "POST", "/_bulk", params=dict(self.params), body=body, timeout=self.timeout_s
            )
        except TransportError as error:
            status = error.status_code
            if status == 413:
                raise _TooLarge from error
            if not worth_retrying(error):
                raise BulkRefused(
                    f"OpenSearch refused a bulk request of {len(chunk)} items with {status}: {error.error}; "
                    "check the URL and the credentials, and see its log"
                ) from error
            if attempt > self.retry.retries:
                raise ServerUnavailable(
                    f"a bulk request of {len(chunk)} items ({len(body)} bytes) failed {attempt} times, at "
                    f"last with {status}: {error.error}; do the same again when OpenSearch is well"
                ) from error
            return [{"status": 503}] * len(chunk)
        return [next(iter(item.values())) for item in answer["items"]]

    def _limit(self) -> int:
        if self.limit is None:
            self.limit = content_limit(self.client)
        return self.limit
