"""Jobs that a fault meets in the middle: how they start, when half is done, and what must hold at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np
from fault_stack import Stack
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.registry import DEFAULT_ENCODER, describe_encoder, load_encoder
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.actions import Action
from trifuse.indexer.bulk import bulk
from trifuse.indexer.hints import Enqueue, Hint
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sync import Patience, SyncReport, sync
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.produce import record_clicks
from trifuse.worker.clicks.rebuild import rebuild
from trifuse.worker.enqueue import celery_enqueue

BATCH = 16
EVENTS = 600
MESSAGE = 10
PATIENCE = Patience(lease_s=5.0, stall_s=120.0, silence_s=120.0)
WITHIN_S = 120.0
COMPARED = 16
"""Documents whose vectors are made again, to compare."""


class Job(Protocol):
    """What a cell runs."""

    def start(self, *, twice: bool) -> None:
        """Begin in the background; `twice` delivers each message two times."""

    def half_done(self) -> bool:
        """Whether it is the moment for the fault."""

    def finish(self) -> str:
        """Wait for the end and check it; what was found, in words. Raises Broken."""


class Broken(Exception):
    """The end isn't as it must be."""


def demand(true: bool, what: str) -> None:
    """Raise Broken with what isn't so."""
    if not true:
        raise Broken(what)


def eventually(true: Callable[[], bool], what: str) -> None:
    """Wait until it is true.

    Raises:
        Broken: it wasn't within two minutes.
    """
    end = time.monotonic() + WITHIN_S
    while not true():
        demand(time.monotonic() < end, f"{what}: not within {WITHIN_S:.0f} s")
        time.sleep(0.02)


class Embed:
    """Documents are embedded; at the end each has one valid vector of its text."""

    def __init__(self, stack: Stack, documents: int) -> None:
        self._stack = stack
        self._documents = documents
        self._index = f"faults-embed-{time.monotonic_ns()}"
        self._space = Space(describe_encoder(DEFAULT_ENCODER), TextTemplate(("title",)))
        self._threads = ThreadPoolExecutor(1)
        self._twice = False

    def start(self, *, twice: bool) -> None:
        """Write the documents, and sync in the background."""
        self._twice = twice
        client = self._stack.client
        body = index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: self._space}, shards=2)
        client.indices.create(index=self._index, body=body)
        actions = (
            Action(
                op="index",
                index=self._index,
                id=str(number),
                source={"title": f"A made-up remedy against a made-up illness, volume {number}"},
            )
            for number in range(self._documents)
        )
        demand(not bulk(client, actions, refresh=True).failed, "OpenSearch refused documents")
        self._running = self._threads.submit(self._sync)

    def half_done(self) -> bool:
        """Whether half of the texts were given to the encoder."""
        return self._stack.counted("texts") >= self._documents // 2

    def finish(self) -> str:
        """Nothing is pending, vectors are right, little was encoded twice, a second sync writes nothing."""
        report = self._running.result(timeout=2 * WITHIN_S)
        self._threads.shutdown()
        demand(not report.stalled, report.stalled)
        demand((report.pending, report.failed) == (0, 0), f"left pending or failed: {report}")
        documents = self._read()
        demand(len(documents) == self._documents, f"{len(documents)} of {self._documents} documents found")
        for hit in documents:
            self._check(hit)
        self._compare(documents[:COMPARED])
        encoded = self._stack.counted("texts")
        if not self._twice:
            most = self._documents + BATCH * (self._stack.killed + self._stack.interrupted)
            demand(encoded <= most, f"{encoded} texts were encoded, {most} at most may be")
        again = self._sync()
        demand(again.embedded == 0, f"a second sync embedded {again.embedded}")
        demand(self._versions(self._read()) == self._versions(documents), "a second sync wrote documents")
        return f"{self._documents} documents, {encoded} texts encoded, {self._stack.killed} processes killed"

    def _sync(self) -> SyncReport:
        client = OpenSearch(self._stack.services.opensearch_url, timeout=30)
        return sync(client, self._index, self._enqueue(), wait=True, patience=PATIENCE)

    def _enqueue(self) -> Enqueue:
        once = celery_enqueue(self._stack.app, batch=BATCH)

        def enqueue(index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
            for _ in range(2 if self._twice else 1):
                once(index, field, space, ids)

        return enqueue

    def _read(self) -> list[dict[str, Any]]:
        self._stack.client.indices.refresh(index=self._index)
        body = {"size": self._documents, "version": True}
        hits: list[dict[str, Any]] = self._stack.client.search(index=self._index, body=body)["hits"]["hits"]
        return hits

    def _check(self, hit: dict[str, Any]) -> None:
        source = hit["_source"]
        wanted = {"space": self._space.id, "hash": text_hash(source["title"])}
        mark = source.get("trifuse", {}).get("fields", {}).get(VECTOR_FIELD)
        demand(mark == wanted, f"document {hit['_id']} has the mark {mark}, expected {wanted}")
        norm = float(np.linalg.norm(source[VECTOR_FIELD]))
        demand(abs(norm - 1.0) < 1e-3, f"the vector of document {hit['_id']} has norm {norm}")
        demand(hit["_version"] == 2, f"document {hit['_id']} has version {hit['_version']}, expected 2")

    def _compare(self, hits: Sequence[dict[str, Any]]) -> None:
        """Some vectors against those of an encoder of our own."""
        expected = load_encoder(DEFAULT_ENCODER).encode_documents([hit["_source"]["title"] for hit in hits])
        found = np.array([hit["_source"][VECTOR_FIELD] for hit in hits], dtype=np.float32)
        least = float(np.einsum("ij,ij->i", found, expected).min())
        demand(least > 0.999, f"a vector isn't that of its text: cosine {least:.4f}")

    @staticmethod
    def _versions(hits: Iterable[dict[str, Any]]) -> dict[str, int]:
        return {hit["_id"]: hit["_version"] for hit in hits}


class Clicks:
    """Click events are taken in; at the end each counts once, and a rebuild gives the same counts."""

    def __init__(self, stack: Stack, documents: int) -> None:
        self._stack = stack
        self._index = f"faults-clicks-{time.monotonic_ns()}"
        self._events = [
            ClickEvent(
                event_id=f"e{number}",
                query=f"query {number % 7}",
                doc_id=f"d{number % min(10, documents)}",
                timestamp=time.time() - number,
            )
            for number in range(EVENTS)
        ]

    def start(self, *, twice: bool) -> None:
        """Make the search index, and send the events."""
        self._stack.client.indices.create(index=self._index, body=index_body({"title": {"type": "text"}}))
        for document in {event.doc_id for event in self._events}:
            self._stack.client.index(index=self._index, id=document, body={"title": document})
        self._stack.client.indices.refresh(index=self._index)
        for _ in range(2 if twice else 1):
            self._send()

    def half_done(self) -> bool:
        """Whether a good part of the events is counted."""
        return self._total() >= EVENTS // 4

    def finish(self) -> str:
        """What was lost with the broker is sent again, as its sender would; nothing counts twice."""
        eventually(lambda: self._stack.redis.llen("trifuse") == 0, "the queue isn't empty")
        self._send()
        eventually(lambda: self._stack.redis.llen("trifuse") == 0, "the queue isn't empty")
        # Counts that went with Redis are in the event index: the rebuild counts them.
        rebuild(self._stack.client, self._stack.redis, self._index)
        eventually(lambda: self._total() == EVENTS, f"{self._total():.0f} of {EVENTS} clicks are counted")
        counted = self._aggregates()
        rebuild(self._stack.client, self._stack.redis, self._index)
        again = self._aggregates()
        demand(counted.keys() == again.keys(), "a rebuild made other keys")
        worst = max(
            abs(score - again[key].get(member, 0.0))
            for key, members in counted.items()
            for member, score in members.items()
        )
        demand(worst < 1e-6, f"a rebuild changed a count by {worst}")
        return f"{EVENTS} clicks counted once, {self._stack.killed} processes killed"

    def _send(self) -> None:
        for start in range(0, EVENTS, MESSAGE):
            record_clicks(self._stack.app, self._index, self._events[start : start + MESSAGE])

    def _aggregates(self) -> dict[str, dict[str, float]]:
        """How often each query was clicked for, and its documents, by key."""
        redis, of = self._stack.redis, (self._index, HALF_LIFE_DAYS)
        counted = {
            queries_key(*of): {
                key: clicks_counted(value) or 0.0 for key, value in redis.hgetall(queries_key(*of)).items()
            }
        }
        keys = list(redis.scan_iter(match=clicks_key(*of, "*"), count=1000))
        sums = merged(read_strings(redis, keys), self._events[0].timestamp or 0.0, HALF_LIFE_DAYS)
        for query, doc, clicks in zip(
            sums.query, sums.docs[sums.doc].tolist(), sums.clicks.tolist(), strict=True
        ):
            counted.setdefault(keys[query], {})[str(doc)] = clicks
        return counted

    def _total(self) -> float:
        return sum(self._aggregates()[queries_key(self._index, HALF_LIFE_DAYS)].values())


JOBS: dict[str, Callable[[Stack, int], Job]] = {"embed": Embed, "clicks": Clicks}
