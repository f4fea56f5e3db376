"""The sweep: what lacks its vector is queued without anybody asking, and nothing stops it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.workers import start_beat
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer import pending
from trifuse.indexer.copying import begin
from trifuse.indexer.counts import counts
from trifuse.indexer.hints import Hint, queue_name
from trifuse.indexer.mapping import index_body
from trifuse.indexer.sentences import attach_sentences, keeper
from trifuse.worker import sweep as module
from trifuse.worker.app import create_app
from trifuse.worker.embedding import embed
from trifuse.worker.enqueue import celery_enqueue, messages_waiting
from trifuse.worker.settings import Settings
from trifuse.worker.sweep import SWEEP_TASK, sweep
from trifuse.worker.turns import LIFETIME_S, end_turns, take_turn


class Queue:
    """Keeps what is queued for the indexes of one test: others have theirs in the same OpenSearch."""

    def __init__(self) -> None:
        self.hints: list[tuple[str, str, Hint]] = []

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
        self.hints += [(index, field, hint) for hint in ids]


@pytest.fixture(autouse=True)
def _own_indexes_only(monkeypatch: pytest.MonkeyPatch, index_name: str) -> None:
    found = module._own_indexes
    monkeypatch.setattr(
        module, "_own_indexes", lambda client: [name for name in found(client) if index_name in name]
    )


def nobody(queue: str) -> int:
    return 0


def test_what_is_pending_is_queued_in_every_index_and_a_bad_one_stops_none(
    client: OpenSearch, make_library: Callable[..., Any], index_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    fields = {VECTOR_FIELD: {"id": "of a later version", "encoder": {"new": 1}}}
    client.indices.create(
        index=f"{index_name}-a", body={"mappings": {"_meta": {"trifuse": {"fields": fields}}}}
    )
    for suffix in "bc":
        make_library(f"{index_name}-{suffix}").put("1", "The lighthouse")
    queue = Queue()

    report = sweep(client, queue, nobody)

    hints = [(f"{index_name}-{suffix}", VECTOR_FIELD, ("1", None)) for suffix in "bc"]
    assert sorted(queue.hints) == hints  # in an order of chance
    assert report.todo == ()
    assert report.swept == {f"{index_name}-b": 1, f"{index_name}-c": 1}
    assert list(report.failed) == [f"{index_name}-a"]
    assert f"{index_name}-a" in caplog.text


def test_an_index_that_is_deleted_meanwhile_is_logged_and_left(
    client: OpenSearch, make_library: Callable[..., Any], index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_library(f"{index_name}-b").put("1", "The lighthouse")
    monkeypatch.setattr(module, "_own_indexes", lambda _: [f"{index_name}-gone", f"{index_name}-b"])
    report = sweep(client, Queue(), nobody)
    assert (list(report.failed), report.swept) == ([f"{index_name}-gone"], {f"{index_name}-b": 1})


def test_a_space_whose_queue_holds_messages_gets_no_more(
    client: OpenSearch, library: Any, index_name: str
) -> None:
    library.put("1", "The lighthouse")
    asked: list[str] = []

    def waiting(queue: str) -> int:
        asked.append(queue)
        return 1

    queue = Queue()
    report = sweep(client, queue, waiting)
    assert (report.busy, queue.hints, asked) == ((index_name,), [], [queue_name(library.space.encoder)])


class Clock:
    """A second passes with every look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_a_slice_of_time_leaves_the_other_indexes_to_the_next(
    client: OpenSearch, make_library: Callable[..., Any], index_name: str
) -> None:
    for suffix in "abc":
        make_library(f"{index_name}-{suffix}").put("1", "The lighthouse")
    queue = Queue()
    names: Sequence[str] | None = None
    for done in (1, 2, 3):
        report = sweep(client, queue, nobody, names=names, slice_s=1.0, clock=Clock())
        assert (len(report.swept), len(report.todo)) == (1, 3 - done)
        names = report.todo
    assert sorted(index for index, _, _ in queue.hints) == [f"{index_name}-{suffix}" for suffix in "abc"]


def test_a_large_index_is_left_in_its_midst_and_gone_on_with(
    client: OpenSearch,
    make_library: Callable[..., Any],
    index_name: str,
    hash_encoder: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six documents that are in order but the fourth, looked through a few at a time; and their sentences."""
    monkeypatch.setattr(pending, "_FIRST_PAGE", 2)
    monkeypatch.setattr(keeper, "PAGE", 2)
    library = make_library(index_name)
    for number in range(6):
        library.put(str(number), f"Volume {number}.")
    hints = [(str(number), None) for number in range(6)]
    embed(client, hash_encoder, index_name, VECTOR_FIELD, hints)
    for number in range(6):
        library.edit(str(number), **({"title": "Another"} if number == 3 else {"shelf": 2}))
    (name,) = attach_sentences(client, index_name, text=["title"], encoder=library.space.encoder)
    queue = Queue()

    def embed_stale(index: str, field: str, space: Space, ids: Sequence[Hint]) -> None:
        queue(index, field, space, ids)
        embed(client, hash_encoder, index, field, ids)

    slices = 0
    names: Sequence[str] | None = [index_name]
    while names:
        report = sweep(client, embed_stale, nobody, names=names, slice_s=1.0, clock=Clock())
        names, slices = report.todo, slices + 1
        assert slices < 30
    assert slices > 5  # two pages of documents, three of parents, and each is a slice of its own
    assert queue.hints[0] == (index_name, VECTOR_FIELD, ("3", None))
    assert sorted({hint for index, _, hint in queue.hints if index == name}) == [
        (f"{number}#title#0", None) for number in range(6)
    ]
    assert [hint for index, _, hint in queue.hints if index == index_name] == [("3", None)]


def test_a_copy_is_left_in_its_midst_and_gone_on_with(
    client: OpenSearch, make_library: Callable[..., Any], index_name: str, hash_encoder: Any
) -> None:
    """A shard a slice, at least: each has a page of its own."""
    library = make_library(index_name, shards=2)
    hints = [(str(number), None) for number in range(12)]
    for doc_id, _ in hints:
        library.put(doc_id, f"Volume {doc_id}.")
    embed(client, hash_encoder, index_name, VECTOR_FIELD, hints)
    client.indices.put_alias(index=index_name, name=f"{index_name}-alias")
    copy = begin(
        client,
        index_name,
        alias=f"{index_name}-alias",
        space_field=("trifuse_vector_2", library.space),
        drop_fields=[VECTOR_FIELD],
    )
    queue = Queue()
    copied: list[int] = []
    names: Sequence[str] | None = [index_name]
    while names:
        names = sweep(client, queue, nobody, names=names, slice_s=1.0, clock=Clock()).todo
        client.indices.refresh(index=copy.index)
        copied.append(client.count(index=copy.index)["count"])
        assert len(copied) < 30
    assert copied[-1] == 12
    assert any(0 < count < 12 for count in copied)
    assert sorted({hint for index, _, hint in queue.hints if index == copy.index}) == sorted(hints)


def test_a_sweep_goes_on_by_messages_and_no_other_begins_beside_it(services: Any, redis_client: Any) -> None:
    redis_client.delete("trifuse:sweep")
    url = services.redis_url
    assert take_turn(url, "first", begins=True)
    assert not take_turn(url, "second", begins=True)
    assert take_turn(url, "first", begins=False)
    assert 0 < redis_client.ttl("trifuse:sweep") <= LIFETIME_S
    end_turns(url, "second")
    assert not take_turn(url, "second", begins=True)
    end_turns(url, "first")
    assert take_turn(url, "second", begins=True)
    assert not take_turn(url, "first", begins=False)  # one that was thought dead
    end_turns(url, "second")


def test_without_redis_a_sweep_begins_and_none_goes_on() -> None:
    nowhere = "redis://127.0.0.1:1/0"
    assert take_turn(nowhere, "first", begins=True)
    assert not take_turn(nowhere, "first", begins=False)
    end_turns(nowhere, "first")


def test_messages_that_wait_are_counted(services: Any, library: Any, lonely_broker: str) -> None:
    app = create_app(Settings.from_env(services.environ() | {"TRIFUSE_BROKER_URL": lonely_broker}))
    queue = queue_name(library.space.encoder)
    assert messages_waiting(app, queue) == 0
    celery_enqueue(app, batch=1)("none", VECTOR_FIELD, library.space, [("1", None), ("2", None)])
    assert messages_waiting(app, queue) == 2
    app.close()


def test_a_running_worker_sends_itself_what_a_slice_has_left(
    client: OpenSearch,
    index_name: str,
    services: Any,
    encoder: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
    redis_client: Any,
    tmp_path: Path,
) -> None:
    """Each of its slices is over at once."""
    names = [f"{index_name}-{suffix}" for suffix in "ab"]
    space = Space(encoder.space, TextTemplate(("title",)))
    body = index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    for name in names:
        client.indices.create(index=name, body=body)
        client.index(index=name, id="1", body={"title": "The lighthouse"}, params={"refresh": "true"})
    short = "from trifuse.worker import sweep\nsweep.sweep.__kwdefaults__['slice_s'] = 0.0\n"
    (tmp_path / "sitecustomize.py").write_text(short)  # Python runs it when it starts
    services = replace(services, broker_url=lonely_broker)
    worker = worker_factory(services=services, PYTHONPATH=str(tmp_path))
    redis_client.delete("trifuse:sweep")
    app = create_app(Settings.from_env(services.environ()))
    app.send_task(SWEEP_TASK, kwargs={"names": names, "sweep_id": index_name})
    app.close()
    end = time.monotonic() + 60
    while not all(counts(client, name)["current"] for name in names) or redis_client.get("trifuse:sweep"):
        assert time.monotonic() < end, worker.log
        time.sleep(0.2)
        client.indices.refresh(index=",".join(names))
    assert worker.log.count("sweep: queued") >= 2


def test_beat_has_a_running_worker_do_it(
    client: OpenSearch,
    index_name: str,
    services: Any,
    encoder: Any,
    lonely_broker: str,
    worker_factory: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    space = Space(encoder.space, TextTemplate(("title",)))
    client.indices.create(
        index=index_name, body=index_body({"title": {"type": "text"}}, spaces={VECTOR_FIELD: space})
    )
    client.index(index=index_name, id="1", body={"title": "The lighthouse"})
    services = replace(services, broker_url=lonely_broker)
    worker = worker_factory(services=services)
    monkeypatch.setenv("TRIFUSE_SWEEP_S", "1")
    settings = Settings.from_env(services.environ())
    beat = start_beat(services.folder, settings=settings)
    try:
        end = time.monotonic() + 90
        while not counts(client, index_name)["current"]:
            assert time.monotonic() < end, worker.log
            time.sleep(0.5)
            client.indices.refresh(index=index_name)
        stop(beat.process, force=True)
        beat = start_beat(services.folder, settings=settings)  # a killed one leaves nothing in its way
    finally:
        stop(beat.process)
    assert not list(services.folder.glob("celerybeat*"))
