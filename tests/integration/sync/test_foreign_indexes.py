"""`sync` on indexes of other writers: the cases from the field, and documents that move."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from celery import Celery
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.follow import Patience
from trifuse.indexer.pending import Mark
from trifuse.indexer.scan import Pending, scan
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.verdicts import judge
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import celery_enqueue

QUICK = Patience(lease_s=0.5, stall_s=5.0, silence_s=2.0, poll_s=0.05)
DONE = SyncReport(pending=0, embedded=1, skipped=0, failed=0)


@pytest.fixture
def wait(client: OpenSearch, encoder: Any, postbox: Any) -> Callable[..., SyncReport]:
    """`sync --wait`, with a worker that does at once what it is told."""
    postbox.deliver = lambda index, field, ids: embed(client, encoder, index, field, ids)

    def run(index: str, **options: Any) -> SyncReport:
        return sync(client, index, postbox, wait=True, patience=QUICK, **options)

    return run


def test_b8_an_edit_by_the_owner_while_it_is_embedded(own: Any, wait: Any, postbox: Any) -> None:
    index, bring = own(), postbox.deliver
    index.attach()

    def edit_and_bring(name: str, field: str, ids: Sequence[Any]) -> None:
        if len(postbox.messages) == 1:
            index.put("0", "The second edition")
            bring(name, field, ids)
            index.edit("0", "The third edition")
        else:
            bring(name, field, ids)

    postbox.deliver = edit_and_bring
    assert wait(index.name).pending == 0
    assert index.holds("0", "The third edition")


def test_c1_a_hint_that_is_delivered_twice_writes_one_version(own: Any, wait: Any, postbox: Any) -> None:
    index, bring = own(), postbox.deliver
    index.attach()

    def twice(*message: Any) -> None:
        bring(*message)
        bring(*message)

    postbox.deliver = twice
    assert wait(index.name) == DONE
    assert index.version("0") == 2  # the owner's, and the vector's
    assert wait(index.name) == SyncReport(pending=0, embedded=0, skipped=1, failed=0)
    assert index.version("0") == 2


def test_c3_no_key_without_expiry_but_the_queue_and_no_more_messages_than_the_bound(
    own: Any, client: OpenSearch, services: Any
) -> None:
    index = own()
    index.attach()
    lines: list[dict[str, Any]] = []
    for number in range(1, 120):
        lines += [{"index": {"_id": str(number)}}, {"title": f"Volume {number}"}]
    client.bulk(body=lines, index=index.name)
    app = Celery(broker=services.broker_url)
    # A space that nobody listens for: its queue only grows.
    lonely = Space(_nobody(index.space), index.space.template)
    enqueue = celery_enqueue(app, batch=4, max_messages=5)
    sent: list[int] = []

    def bounded(name: str, field: str, space: Space, ids: Sequence[Any], /) -> None:
        enqueue(name, field, lonely, ids)
        with Redis.from_url(services.broker_url) as redis:
            sent.append(int(redis.llen(f"trifuse.{lonely.encoder.id}")))

    try:
        for _ in range(2):
            assert sync(client, index.name, bounded).pending == 120
        assert sent and max(sent) == 5
        with Redis.from_url(services.broker_url, decode_responses=True) as redis:
            lasting = [key for key in redis.scan_iter() if redis.ttl(key) == -1]
        # The queue, and what kombu knows its queues by.
        assert [key for key in lasting if not key.startswith(("trifuse.", "_kombu.", "unacked"))] == []
    finally:
        with Redis.from_url(services.broker_url) as redis:
            redis.delete(f"trifuse.{lonely.encoder.id}")
        app.close()


def test_a_document_that_was_made_again_with_another_routing_is_found_by_its_id(
    own: Any, wait: Any, postbox: Any
) -> None:
    index, bring = own(shards=3), postbox.deliver
    index.attach()
    assert wait(index.name).pending == 0
    index.put("m", "The moved one", routing="a")

    moved: list[Any] = []

    def move_and_bring(name: str, field: str, ids: Sequence[Any]) -> None:
        if ids == [("m", "a")] and not moved:
            moved.append(ids)
            index.client.delete(index=name, id="m", params={"routing": "a"})
            index.put("m", "The moved one", routing="b")
        bring(name, field, ids)

    postbox.deliver = move_and_bring
    report = wait(index.name)
    assert (report.pending, report.embedded) == (0, 1)
    assert index.holds("m", "The moved one", routing="b")


def test_a_verdict_of_a_document_that_moved_is_that_of_where_it_is(
    own: Any, client: OpenSearch, encoder: Any
) -> None:
    index = own(shards=3)  # never refreshes
    index.attach()
    index.put("m", "The moved one", routing="b")
    hint = ("m", "a")
    item = Pending("m", "a", 0, None, "missing", None)
    assert judge(client, index.target, [item]) == {}
    embed(client, encoder, index.name, VECTOR_FIELD, [("m", "b")])
    assert judge(client, index.target, [item]) == {hint: "embedded"}
    client.delete(index=index.name, id="m", params={"routing": "b"})
    assert judge(client, index.target, [item]) == {hint: "gone"}


def test_two_documents_of_one_id_both_get_their_vector(own: Any, wait: Any) -> None:
    index = own(shards=2)
    index.attach()
    shards = _routings_to_two_shards(index)
    for routing in shards:
        index.put("twin", f"The twin of {routing}", routing=routing)
    report = wait(index.name)
    assert (report.pending, report.embedded) == (0, 3)
    for routing in shards:
        assert index.holds("twin", f"The twin of {routing}", routing=routing)


def test_a_text_that_its_owner_puts_back_is_waited_for_no_longer(
    own: Any, client: OpenSearch, wait: Any, encoder: Any
) -> None:
    index = own()
    index.attach()
    assert wait(index.name) == DONE
    index.edit("0", "The second edition")
    (item,) = scan(client, index.target)
    assert (item.state, item.mark) == ("stale", Mark(index.space.id, item.mark.hash))
    index.edit("0", "The first edition")
    assert judge(client, index.target, [item]) == {("0", None): "embedded"}


def test_what_failed_comes_back_by_retry_in_each_field_of_each_index_behind_an_alias(
    own: Any, client: OpenSearch, wait: Any, postbox: Any, index_name: str, encoder: Any
) -> None:
    alias, fields = f"{index_name}-alias", ("trifuse_vector", "trifuse_vector_2")
    indexes = [own(f"{index_name}-{letter}") for letter in "ab"]
    for index in indexes:
        second = Space(index.space.encoder, TextTemplate(("note",)))
        index.attach(*fields, spaces=(index.space, second))
        client.indices.put_alias(index=index.name, name=alias)
        index.put("0", "The first edition")  # with a note
    works, bring = _Refusing(encoder), postbox.deliver
    postbox.deliver = lambda index, field, ids: embed(client, works, index, field, ids)
    assert wait(alias) == SyncReport(pending=0, embedded=0, skipped=0, failed=2)  # documents, not fields
    sent = len(postbox.messages)
    postbox.deliver = bring
    assert wait(alias).failed == 2  # not tried again by itself
    assert len(postbox.messages) == sent
    assert wait(alias, retry_failed=True) == SyncReport(pending=0, embedded=2, skipped=0, failed=0)
    assert {message[:2] for message in postbox.messages[sent:]} == {
        (index.name, field) for index in indexes for field in fields
    }


def test_a_scan_of_many_documents_holds_a_page_at_a_time(own: Any, client: OpenSearch) -> None:
    index = own()
    index.attach()
    title = "x" * 2_000
    for start in range(0, 4_000, 1_000):
        lines: list[dict[str, Any]] = []
        for number in range(start, start + 1_000):
            lines += [{"index": {"_id": str(number)}}, {"title": title}]
        client.bulk(body=lines, index=index.name)
    found = scan(client, index.target)
    for _ in range(1_000):
        next(found)
    tracemalloc.start()
    assert sum(1 for _ in found) == 3_000
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # A page of 500 texts of 2 kB is a megabyte, as text and as the answer it was read from.
    assert peak < 5_000_000


class _Refusing:
    """An encoder that refuses every text."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder
        self.space = encoder.space

    def encode(self, texts: Sequence[Any], *, role: Any) -> Any:
        encoding = self._encoder.encode(texts, role=role)
        return type(encoding)(
            encoding.vectors, encoding.truncated, {row: "it is refused" for row, _ in enumerate(texts)}
        )


def _nobody(space: Space) -> Any:
    return dataclasses.replace(space.encoder, encoder="nobody-has-it")


def _routings_to_two_shards(index: Any) -> list[str]:
    """Two routings, one to each shard."""
    found: dict[str, str] = {}
    for routing in "abcdefgh":
        shards = index.client.search_shards(index=index.name, params={"routing": routing})["shards"]
        found.setdefault(str(shards[0][0]["shard"]), routing)
    return sorted(found.values())[:2]
