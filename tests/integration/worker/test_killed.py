"""A document that ends its worker's process each time, as the kernel does where memory is short."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.counts import counts
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.failures import FAILED_INDEX, read_failures
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sync import sync
from trifuse.worker.app import create_app
from trifuse.worker.enqueue import celery_enqueue
from trifuse.worker.settings import Settings

DEADLY = """
import os, signal
from trifuse.worker.metrics import CountedEncoder
encode = CountedEncoder.encode

def deadly(self, texts, *, role):
    if any("deadly" in text for text in texts):
        os.kill(os.getpid(), signal.SIGKILL)
    return encode(self, texts, role=role)

CountedEncoder.encode = deadly
"""


@pytest.mark.timeout(300)
def test_it_is_recorded_in_the_end_and_the_others_get_their_vector(
    client: OpenSearch,
    index_name: str,
    services: Any,
    encoder: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
    tmp_path: Path,
) -> None:
    space = Space(encoder.space, TextTemplate(("title",)))
    client.indices.create(
        index=index_name, body=index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    )
    for number, title in enumerate(["The lighthouse", "The deadly rock", "The harbour"]):
        client.index(index=index_name, id=str(number), body={"title": title})
    (tmp_path / "sitecustomize.py").write_text(DEADLY)  # Python runs it when it starts
    services = replace(services, broker_url=lonely_broker)
    worker = worker_factory(services=services, PYTHONPATH=str(tmp_path))
    app = create_app(Settings.from_env(services.environ()))
    sync(client, index_name, celery_enqueue(app))

    end = time.monotonic() + 200
    found = counts(client, index_name)
    while found["current"] + found["failed"] < 3:
        assert time.monotonic() < end, worker.log
        time.sleep(0.5)
        client.indices.refresh(index=f"{index_name},{FAILED_INDEX}", params={"ignore_unavailable": "true"})
        found = counts(client, index_name)

    assert (found["current"], found["failed"]) == (2, 1)
    record = read_failures(client, embedded_field(client, index_name, VECTOR_FIELD), [("1", None)])["1", None]
    assert record.reason == "the process that embedded it was killed 3 times: too little memory for it?"
    kills = worker.log.count("exited with 'signal 9 (SIGKILL)'")
    assert kills == 5  # twice with its neighbours, three times alone
    assert worker.alive
    with Redis.from_url(services.redis_url) as redis:
        keys = list(redis.scan_iter(match="trifuse:deliveries:*"))
        assert all(redis.ttl(key) > 0 for key in keys)
    app.close()
