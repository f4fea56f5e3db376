"""NFCorpus in OpenSearch and Redis: its documents, its pseudo log, and the services they are kept in."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nfcorpus_data import Corpus, pseudo_log
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.deploy.config import opensearch_client, redis_client, resolve
from trifuse.deploy.local.stack import LocalServices
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.encoder.types import Encoder
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.indexer.mapping import index_body
from trifuse.ranker.evaluation import Queries
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.embedding import embed

BATCH = 64


def load_documents(client: OpenSearch, encoder: Encoder, index: str, documents: Queries) -> None:
    """Make the index, and embed its documents."""
    space = Space(encoder.space, TextTemplate(("text",)))
    properties = {"text": {"type": "text", "analyzer": "english"}}
    client.indices.create(index=index, body=index_body(properties, spaces={VECTOR_FIELD: space}))
    actions = (
        Action(op="create", index=index, id=document, source={"text": text})
        for document, text in documents.items()
    )
    refused = [item for item in bulk(client, actions).items if not item.ok]
    if refused:
        raise SystemExit(f"{len(refused)} documents were refused: {refused[0].reason}")
    client.indices.refresh(index=index)
    embed_all(client, encoder, index, list(documents))


def load_log(
    client: OpenSearch, redis: Redis, encoder: Encoder, index: str, corpus: Corpus
) -> dict[str, Any]:
    """Take the pseudo log in, and embed its queries; what became of it."""
    new: dict[str, None] = {}

    def enqueue(name: str, field: str, space: Space, ids: Sequence[tuple[str, str | None]]) -> None:
        new.update(dict.fromkeys(query for query, _ in ids))

    # The judgements have no visitors, and a query with one document is one past query, too.
    intake = Intake(client, redis, index, min_visitors=1, enqueue=enqueue)
    report = intake.take(pseudo_log(corpus))
    embed_all(client, encoder, f"trifuse-queries-{index}", list(new))
    return {"queries": report.queries, "pairs": report.pairs, "rejected": dict(report.rejected)}


def embed_all(client: OpenSearch, encoder: Encoder, index: str, ids: Sequence[str]) -> None:
    """Give documents their vectors, and make them searchable."""
    started = time.monotonic()
    for start in range(0, len(ids), BATCH):
        report = embed(
            client, encoder, index, VECTOR_FIELD, [(each, None) for each in ids[start : start + BATCH]]
        )
        if report.failed or report.unfinished:
            raise SystemExit(
                f"{report.failed + len(report.unfinished)} documents of {index} weren't embedded"
            )
        done = min(start + BATCH, len(ids))
        tell(f"{index}: {done} of {len(ids)} embedded, {done / (time.monotonic() - started):.0f} a second")
    client.indices.refresh(index=index)


def tell(what: str) -> None:
    """Progress, on stderr."""
    print(what, file=sys.stderr, flush=True)


@contextlib.contextmanager
def services() -> Iterator[tuple[OpenSearch, Redis]]:
    """Clients of the services that the environment names, or of ones of our own."""
    with contextlib.ExitStack() as stack:
        urls = [os.environ.get(name) for name in ("OPENSEARCH_URL", "REDIS_URL")]
        if not all(urls):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="trifuse-benchmark-")))
            folder.chmod(0o755)  # the server doesn't run as root
            local = stack.enter_context(LocalServices(folder))
            urls = [local.opensearch_url, local.redis_url]
        settings = resolve(opensearch=urls[0], redis=urls[1])
        client = opensearch_client(settings)
        stack.callback(client.close)
        yield client, redis_client(settings, timeout_s=60.0)


@contextlib.contextmanager
def fresh_index(client: OpenSearch, redis: Redis, prefix: str = "nfcorpus") -> Iterator[str]:
    """A name that no index has; what was made under it is deleted at the end."""
    name = f"{prefix}-{uuid.uuid4().hex[:8]}"
    try:
        yield name
    finally:
        for index in (name, *(f"trifuse-{kind}-{name}" for kind in ("queries", "events", "forgotten"))):
            client.indices.delete(index=index, params={"ignore_unavailable": "true"})
        for key in redis.scan_iter(match=f"trifuse:{{{name}}}:*", count=10_000):
            redis.delete(key)
