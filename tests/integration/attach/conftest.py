"""Indexes that some other writer made, and a quick way to attach and embed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import pytest
from opensearchpy import OpenSearch, Urllib3HttpConnection
from opensearchpy.exceptions import RequestError, TransportError

from trifuse.encoder.templates import Role
from trifuse.encoder.types import Encoder, Encoding
from trifuse.indexer.attach import AttachPlan, apply_attach, plan_attach
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.errors import AttachRefused
from trifuse.indexer.failures import Failure, read_failures
from trifuse.indexer.retry import Retry
from trifuse.indexer.sync import SyncReport, sync
from trifuse.worker.embedding import embed

Plan = Callable[..., AttachPlan]
Attach = Callable[..., SyncReport]
_DOCS = (
    {"title": "Salbutamol for asthma in children", "body": "An inhaler opens the airways.", "year": 2001},
    {"title": "Statins after a heart attack", "body": "They lower cholesterol.", "year": 2002},
    {"title": "Insulin pumps in type 1 diabetes", "body": "Blood sugar stays steady.", "year": 2003},
)


@pytest.fixture
def docs() -> Sequence[Mapping[str, Any]]:
    """The documents of the indexes that `make` makes."""
    return _DOCS


@pytest.fixture
def make(client: OpenSearch, index_name: str) -> Iterator[Callable[..., str]]:
    """Makes an index of the owner's: `make(mappings, settings, docs, suffix="-b", routing="r")`."""

    def made(
        mappings: Mapping[str, Any] | None = None,
        settings: Mapping[str, Any] | None = None,
        docs: Sequence[Mapping[str, Any]] = _DOCS,
        *,
        suffix: str = "",
        routing: str | None = None,
    ) -> str:
        name = index_name + suffix
        body: dict[str, Any] = {
            "settings": {"index": {"knn": True, "number_of_shards": 1, **(settings or {})}}
        }
        if mappings is not None:
            body["mappings"] = mappings
        client.indices.create(index=name, body=body)
        for number, doc in enumerate(docs):
            where = {} if routing is None else {"routing": routing}
            client.index(index=name, id=str(number), body=doc, params=where)
        client.indices.refresh(index=name)
        return name

    yield made


@pytest.fixture
def plan(client: OpenSearch, encoder: Encoder) -> Plan:
    """Plans with the default encoder, versions accepted."""

    def planned(name: str, *text: str, **options: Any) -> AttachPlan:
        return plan_attach(
            client, name, text or ("title", "body"), encoder.space, **{"accept_version_bump": True, **options}
        )

    return planned


@pytest.fixture
def embed_pending(client: OpenSearch, encoder: Encoder) -> Callable[[str], SyncReport]:
    """Embeds what a sync queues, and counts again."""

    def embedded(name: str) -> SyncReport:
        sync(
            client, name, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None
        )
        client.indices.refresh(index=name)
        return sync(client, name, lambda *_: pytest.fail("something is pending still"))

    return embedded


@pytest.fixture
def attach(client: OpenSearch, plan: Plan, embed_pending: Callable[[str], SyncReport]) -> Attach:
    """Attaches, and embeds in this process what sync queues."""

    def attached(name: str, *text: str, **options: Any) -> SyncReport:
        apply_attach(client, plan(name, *text, **options))
        return embed_pending(name)

    return attached


@pytest.fixture
def failures(client: OpenSearch) -> Callable[..., dict[str, Failure]]:
    """What is in the list of failures of an index's documents, by id: `failures(name, "012")`."""

    def read(name: str, ids: Iterable[str]) -> dict[str, Failure]:
        target = embedded_field(client, name, "trifuse_vector")
        found = read_failures(client, target, [(doc_id, None) for doc_id in ids])
        return {doc_id: item for (doc_id, _), item in found.items()}

    return read


class Odd:
    """The default encoder, but for texts of which a test says what comes out; it counts its texts."""

    def __init__(self, encoder: Encoder) -> None:
        self.space = encoder.space
        self.provider = encoder.provider
        self.numbers: dict[str, float] = {}
        self.texts: list[str] = []
        self._encoder = encoder

    def encode(self, texts: Sequence[Any], *, role: Role) -> Encoding:
        """As the default encoder does; the vector of a text in `numbers` is that number, and zeros."""
        self.texts += texts
        found = self._encoder.encode(texts, role=role)
        vectors = found.vectors.copy()
        for row, text in enumerate(texts):
            if text in self.numbers:
                vectors[row] = 0.0
                vectors[row, 0] = self.numbers[text]
        return Encoding(vectors, found.truncated, found.rejected)


@pytest.fixture
def odd(encoder: Encoder) -> Odd:
    """An encoder that makes vectors that can't be used, for the texts that a test names."""
    return Odd(encoder)


class Busy:
    """An OpenSearch that has no room at first.

    Args:
        client: of it; each path that a test names is answered 429 twice, then it is let through.
        refused: the paths that were.
        pauses: the numbers of the attempts that were waited after, in place of waiting.
        items: how often each document, by its id, is still answered 429 within a bulk that is well.
    """

    def __init__(self, url: str) -> None:
        self.refused: set[str] = set()
        self.pauses: list[int] = []
        self.items: dict[str, int] = {}
        self._pattern = re.compile("$^")
        self._left: dict[tuple[str, str], int] = {}
        self.client = OpenSearch(url, connection_class=self._connection(), max_retries=0)

    def refuse(self, pattern: str) -> None:
        """Refuse the paths of which the end is like this."""
        self._pattern = re.compile(f"(?:{pattern})$")

    def _connection(self) -> type[Urllib3HttpConnection]:
        busy = self

        class Connection(Urllib3HttpConnection):
            def perform_request(self, method: str, url: str, *args: Any, **kwargs: Any) -> Any:
                left = busy._left.setdefault((method, url), 2)
                if left and busy._pattern.search(url):
                    busy._left[method, url] = left - 1
                    busy.refused.add(url)
                    raise TransportError(429, "circuit_breaking_exception", {})
                if url == "/_bulk" and busy.items:
                    params, body = args
                    return busy._without_items(partial(super().perform_request, method, url, params), body)
                return super().perform_request(method, url, *args, **kwargs)

        return Connection

    def _without_items(self, send: Callable[[bytes], Any], body: bytes) -> Any:
        """Send a bulk of updates without those documents, and put their 429 into the answer."""
        lines = body.splitlines(keepends=True)
        updates = [(lines[at], lines[at + 1]) for at in range(0, len(lines), 2)]
        ids = [json.loads(head)["update"]["_id"] for head, _ in updates]
        busy = [self.items.get(doc_id, 0) > 0 for doc_id in ids]
        kept = [b"".join(update) for update, off in zip(updates, busy, strict=True) if not off]
        status, headers, text = send(b"".join(kept)) if kept else (200, {}, '{"items": []}')
        answers = iter(json.loads(text)["items"])
        full = {"status": 429, "error": {"type": "rejected_execution_exception", "reason": "queue is full"}}
        items = [{"update": full} if off else next(answers) for off in busy]
        self.items = {doc_id: left - 1 for doc_id, left in self.items.items() if left > 1}
        return status, headers, json.dumps({"errors": any(busy), "items": items})


@pytest.fixture
def busy(services: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Busy]:
    """A server without room; nobody waits for it."""
    made = Busy(services.opensearch_url)
    monkeypatch.setattr(Retry, "pause", lambda self, attempt: made.pauses.append(attempt))
    yield made
    made.client.close()


@pytest.fixture
def refused(client: OpenSearch, plan: Plan) -> Callable[..., dict[str, str]]:
    """What a plan refuses, subject to remedy; asserts that nothing is written, nor by a try to apply it."""

    def refusals(name: str, *text: str, **options: Any) -> dict[str, str]:
        before = _state_of(client, name)
        found = plan(name, *text, **options)
        with pytest.raises(AttachRefused):
            apply_attach(client, found)
        assert _state_of(client, name) == before
        assert all(item.remedy for item in found.findings if item.level == "refused")
        return {item.subject: item.remedy for item in found.findings if item.level == "refused"}

    return refusals


def _state_of(client: OpenSearch, name: str) -> list[Any]:
    """The mapping and the documents' versions: what no look may move."""
    mapping = client.indices.get_mapping(index=name)
    try:
        stats = client.indices.stats(index=name, level="shards")["indices"]
    except RequestError:  # closed
        return [mapping]
    return [mapping, {index: [c[0]["seq_no"] for c in e["shards"].values()] for index, e in stats.items()}]
