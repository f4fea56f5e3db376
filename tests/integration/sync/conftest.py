"""Indexes that trifuse didn't make: their owner maps nothing, vectors are added as `attach` adds them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.indexer.embedded import EmbeddedField, embedded_field
from trifuse.indexer.hints import Hint
from trifuse.indexer.mapping import marks_property, vector_property

TRIFUSE = Path(sys.executable).with_name("trifuse")


class Owned:
    """An index of another writer: `title` is embedded, everything else is none of our business."""

    def __init__(
        self,
        client: OpenSearch,
        name: str,
        encoder: EncoderSpace,
        *,
        shards: int = 1,
        refresh_interval: str = "-1",
    ) -> None:
        self.client = client
        self.name = name
        self.space = Space(encoder, TextTemplate(("title",)))
        settings = {
            "number_of_shards": shards,
            "number_of_replicas": 0,
            "refresh_interval": refresh_interval,
            "knn": True,
        }
        client.indices.create(index=name, body={"settings": {"index": settings}})
        self.put("0", "The first edition")  # the owner's mapping is dynamic: it is there before ours

    def attach(self, *fields: str, spaces: Sequence[Space] = ()) -> None:
        """Add vector fields, as `attach` does."""
        named = dict(zip(fields or (VECTOR_FIELD,), spaces or (self.space,), strict=True))
        meta: dict[str, Any] = {"owner": "somebody"}
        for field, space in named.items():
            meta = meta_with_space(meta, field, space)
        properties = {field: vector_property(space) for field, space in named.items()}
        body = {"properties": {**properties, MARKS: marks_property(named)}, "_meta": meta}
        self.client.indices.put_mapping(index=self.name, body=body)

    @property
    def target(self) -> EmbeddedField:
        return embedded_field(self.client, self.name, VECTOR_FIELD)

    def put(self, doc_id: str, title: str, *, routing: str | None = None) -> None:
        """Write a whole document: what we added to it is gone."""
        extra = {"routing": routing} if routing else {}
        body = {"title": title, "note": "n"}
        self.client.index(index=self.name, id=doc_id, body=body, params=extra)

    def edit(self, doc_id: str, title: str) -> None:
        """Write a part of a document: what we added to it is stale."""
        self.client.update(index=self.name, id=doc_id, body={"doc": {"title": title}})

    def holds(
        self, doc_id: str, title: str, *, routing: str | None = None, field: str = VECTOR_FIELD
    ) -> bool:
        """Whether the document has the vector of this title, as its mark says."""
        extra = {"routing": routing} if routing else {}
        found = self.client.get(index=self.name, id=doc_id, params=extra)
        mark = found["_source"].get(MARKS, {}).get("fields", {}).get(field, {})
        return field in found["_source"] and mark.get("hash") == text_hash(title)

    def version(self, doc_id: str) -> int:
        """How often the document was written."""
        return int(self.client.get(index=self.name, id=doc_id)["_version"])


@pytest.fixture
def own(client: OpenSearch, index_name: str, encoder: Any) -> Callable[..., Owned]:
    """Makes indexes of another writer; the first has the test's name."""

    def make(name: str = index_name, *, of: EncoderSpace | None = None, **options: Any) -> Owned:
        return Owned(client, name, of or encoder.space, **options)

    return make


@pytest.fixture
def until() -> Callable[..., float]:
    """Waits until something is so: `until(lambda: ..., within_s=10)`; the seconds that it took."""
    return _until


def _until(what: Callable[[], bool], *, within_s: float = 30.0) -> float:
    """Seconds until it is so; an error where it isn't in time."""
    began = time.monotonic()
    while not what():
        if time.monotonic() - began > within_s:
            raise AssertionError(f"not so within {within_s} s")
        time.sleep(0.1)
    return time.monotonic() - began


class Process:
    """`trifuse sync INDEX --watch --json`, as an operator runs it."""

    def __init__(self, environ: dict[str, str], index: str, *options: str) -> None:
        command = [TRIFUSE, "sync", index, "--watch", "--interval", "0.5", *options]
        self.process = subprocess.Popen(
            command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """Its exit status and what it said."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, err


@pytest.fixture
def start_watch(services: Any) -> Iterator[Callable[..., Process]]:
    """Starts watching in a process of its own."""
    made: list[Process] = []

    def start(index: str, *options: str) -> Process:
        made.append(Process(os.environ | services.environ(), index, *options))
        return made[-1]

    yield start
    for process in made:
        process.end(signal.SIGKILL)


class Postbox:
    """Hints that were queued; `deliver` is what becomes of each message."""

    def __init__(self) -> None:
        self.messages: list[tuple[str, str, list[Hint]]] = []
        self.deliver: Callable[[str, str, Sequence[Hint]], object] = lambda index, field, ids: None

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
        self.messages.append((index, field, list(ids)))
        self.deliver(index, field, ids)

    @property
    def hints(self) -> list[Hint]:
        return [hint for _, _, ids in self.messages for hint in ids]


@pytest.fixture
def postbox() -> Postbox:
    return Postbox()


@pytest.fixture
def in_thread() -> Iterator[Callable[[Callable[[threading.Event], object]], None]]:
    """Runs `watch` beside the test, until its end: `in_thread(lambda stop: watch(..., stop=stop))`."""
    stop, threads, errors = threading.Event(), [], []

    def run(act: Callable[[threading.Event], object]) -> None:
        def body() -> None:
            try:
                act(stop)
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test is told
                errors.append(error)

        threads.append(threading.Thread(target=body, name=uuid.uuid4().hex))
        threads[-1].start()

    yield run
    stop.set()
    for thread in threads:
        thread.join(timeout=60)
    assert errors == []
