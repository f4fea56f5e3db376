"""`sync` and `counts` on a real OpenSearch, with a worker in this process that loses messages on demand."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import text_hash
from trifuse.indexer.attach import detach
from trifuse.indexer.bulk import bulk
from trifuse.indexer.counts import counts
from trifuse.indexer.cursors import read_cursors
from trifuse.indexer.errors import FieldDetached, HintsUndelivered, IndexMissing, IndexNotOurs
from trifuse.indexer.failures import (
    FAILED_INDEX,
    failure_id,
    forget_actions,
    read_failures,
    record_actions,
)
from trifuse.indexer.hints import Hint
from trifuse.indexer.progress import Step
from trifuse.indexer.refresh import LOAD_INTERVAL, save_refresh
from trifuse.indexer.sentences import attach_sentences
from trifuse.indexer.sync import Patience, SyncReport, sync
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=0.3, stall_s=3.0, silence_s=1.0, poll_s=0.05, window=100)


class Postman:
    """Brings hints to a worker in this process; `loses` says which messages get lost."""

    def __init__(self, client: Any, encoder: Any) -> None:
        self.client = client
        self.encoder = encoder
        self.messages: list[list[Hint]] = []
        self.loses: Callable[[int], bool] = lambda number: False
        self.after: Callable[[], None] = lambda: None

    def __call__(self, index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
        self.messages.append(list(ids))
        if not self.loses(len(self.messages)):
            embed(self.client, self.encoder, index, field, ids)
            self.after()

    @property
    def ids(self) -> list[str]:
        return [doc_id for message in self.messages for doc_id, _ in message]


@pytest.fixture
def postman(client: Any, hash_encoder: Any) -> Postman:
    return Postman(client, hash_encoder)


def fresh_counts(library: Any) -> dict[str, Any]:
    both = f"{library.name},{FAILED_INDEX}"
    library.client.indices.refresh(index=both, params={"ignore_unavailable": "true"})
    found = counts(library.client, library.name)
    kinds = ("current", "stale", "missing", "failed", "empty")
    assert found["documents"] == sum(found[kind] for kind in kinds)
    return {kind: found[kind] for kind in kinds}


def test_every_document_is_of_one_kind_and_a_second_sync_writes_nothing(
    library, postman, hash_encoder
) -> None:
    library.put("new", "The lighthouse")
    library.put("edited", "The harbour")
    library.put("emptied", "The quay")
    library.put("filled", "")
    library.put("blank", "")
    library.put("haunted", "The haunted wreck")
    hash_encoder.rejects = {"The haunted wreck": "it is haunted"}
    embed(
        library.client,
        hash_encoder,
        library.name,
        VECTOR_FIELD,
        [(name, None) for name in ("edited", "emptied", "filled", "haunted")],
    )
    library.edit("edited", title="The harbour at night")
    library.edit("emptied", title="")
    library.edit("filled", title="The pier")
    assert fresh_counts(library) == {"current": 0, "stale": 3, "missing": 2, "failed": 1, "empty": 0}

    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=3, skipped=2, failed=1)
    assert sorted(postman.ids) == ["blank", "edited", "emptied", "filled", "new"]
    assert fresh_counts(library) == {"current": 3, "stale": 0, "missing": 0, "failed": 1, "empty": 2}

    before, sent = library.last_writes(), len(postman.messages)
    assert sync(library.client, library.name, postman, wait=True, patience=QUICK) == SyncReport(
        pending=0, embedded=0, skipped=5, failed=1
    )
    assert (library.last_writes(), len(postman.messages)) == (before, sent)


def test_what_failed_is_pending_again_when_its_text_changes_or_when_asked(
    library, postman, hash_encoder
) -> None:
    library.put("1", "The haunted wreck")
    library.put("2", "The haunted house")
    hash_encoder.rejects = {"The haunted wreck": "it is haunted", "The haunted house": "so is this"}
    assert sync(library.client, library.name, postman, wait=True, patience=QUICK).failed == 2
    library.edit("1", title="The wreck")
    assert fresh_counts(library) == {"current": 0, "stale": 0, "missing": 1, "failed": 1, "empty": 0}
    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert (report.embedded, report.failed) == (1, 1)
    hash_encoder.rejects = {}
    report = sync(library.client, library.name, postman, wait=True, retry_failed=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=1, failed=0)


def test_a_stale_document_that_fails_is_failed_and_not_stale(library, postman, hash_encoder) -> None:
    library.put("1", "The wreck")
    sync(library.client, library.name, postman, wait=True, patience=QUICK)
    library.edit("1", title="The haunted wreck")
    hash_encoder.rejects = {"The haunted wreck": "it is haunted"}
    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=0, skipped=0, failed=1)
    assert fresh_counts(library) == {"current": 0, "stale": 0, "missing": 0, "failed": 1, "empty": 0}
    hash_encoder.rejects = {}
    assert (
        sync(library.client, library.name, postman, wait=True, retry_failed=True, patience=QUICK).embedded
        == 1
    )


def test_two_documents_of_one_id_fail_apart(make_library, index_name, postman, hash_encoder) -> None:
    """Each has a record of its own: that one of them is embedded says nothing of the other."""
    library = make_library(index_name, shards=2)
    first, second = routings(library)
    library.put("1", "The haunted wreck", routing=first)
    library.put("1", "The haunted house", routing=second)
    hash_encoder.rejects = {"The haunted wreck": "it is haunted", "The haunted house": "so is this"}
    report = sync(library.client, index_name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=0, skipped=0, failed=2)
    found = read_failures(library.client, library.target, [("1", first), ("1", second)])
    assert {hint: item.reason for hint, item in found.items()} == {
        ("1", first): "it is haunted",
        ("1", second): "so is this",
    }
    assert read_failures(library.client, library.target, [("1", None)]) == {}

    library.put("1", "The wreck", routing=first)
    assert fresh_counts(library) == {"current": 0, "stale": 0, "missing": 1, "failed": 1, "empty": 0}
    report = sync(library.client, index_name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=0, failed=1)
    hash_encoder.rejects = {}
    report = sync(library.client, index_name, postman, wait=True, retry_failed=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=1, failed=0)
    assert read_failures(library.client, library.target, [("1", first), ("1", second)]) == {}


def test_a_record_of_an_older_version_knows_a_routed_document_by_its_id(
    make_library, index_name, postman, hash_encoder
) -> None:
    library = make_library(index_name, shards=2)
    first, second = routings(library)
    library.put("1", "The haunted wreck", routing=first)
    hash_encoder.rejects = {"The haunted wreck": "it is haunted"}
    sync(library.client, index_name, postman, wait=True, patience=QUICK)
    (record,) = read_failures(library.client, library.target, [("1", first)]).values()
    older = msgspec.structs.replace(record, record=failure_id(library.target, "1", None))
    bulk(library.client, [*forget_actions([record]), *record_actions([older])])

    library.put("1", "The haunted house", routing=second)
    hash_encoder.rejects["The haunted house"] = "so is this"
    report = sync(library.client, index_name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=0, skipped=0, failed=2)
    assert read_failures(library.client, library.target, [("1", first)]) == {("1", first): older}
    hash_encoder.rejects = {}
    report = sync(library.client, index_name, postman, wait=True, retry_failed=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=2, skipped=0, failed=0)


def routings(library: Any) -> tuple[str, str]:
    """Two that lead to different shards of two."""
    shards: dict[int, str] = {}
    for routing in "abcdefgh":
        told = library.client.search_shards(index=library.name, params={"routing": routing})
        shards.setdefault(told["shards"][0][0]["shard"], routing)
    return shards[0], shards[1]


def test_several_shards_and_routed_documents(make_library, index_name, postman) -> None:
    library = make_library(index_name, shards=4)
    for number in range(30):
        library.put(str(number), f"Volume {number}", routing=f"shelf {number}" if number % 2 else None)
    patience = Patience(lease_s=0.3, stall_s=3.0, poll_s=0.05, window=7)
    assert sync(library.client, index_name, postman, wait=True, patience=patience).embedded == 30
    assert max(len(message) for message in postman.messages) <= 7
    library.client.update(
        index=index_name, id="5", body={"doc": {"title": "Volume V"}}, params={"routing": "shelf 5"}
    )
    assert fresh_counts(library)["stale"] == 1
    report = sync(library.client, index_name, postman, wait=True, patience=patience)
    assert report == SyncReport(pending=0, embedded=1, skipped=29, failed=0)


def test_lost_hints_are_queued_again(library, postman) -> None:
    for number in range(5):
        library.put(str(number), f"Volume {number}")
    postman.loses = lambda number: number <= 2
    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert (report.pending, report.embedded, report.stalled) == (0, 5, "")
    assert len(postman.messages) == 3


def test_a_stale_document_whose_hint_was_lost_is_found_again(library, postman) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    sync(library.client, library.name, postman, wait=True, patience=QUICK)
    library.edit("1", title="The lighthouse at night")
    library.edit("2", shelf=2)
    postman.loses = lambda number: True
    for _ in range(3):
        assert sync(library.client, library.name, postman).pending == 1
        assert postman.messages[-1] == [("1", None)]
    postman.loses = lambda number: False
    assert sync(library.client, library.name, postman, wait=True, patience=QUICK).embedded == 1


def test_without_waiting_what_is_queued_is_pending(library, postman) -> None:
    library.put("1", "The lighthouse")
    postman.loses = lambda number: True
    assert sync(library.client, library.name, postman) == SyncReport(
        pending=1, embedded=0, skipped=0, failed=0
    )
    report = sync(library.client, library.name, postman, listening=lambda space: False)
    assert "no worker is listening on the queue 'trifuse.test-hash-" in report.stalled


def test_no_worker_ends_the_wait_with_the_remedy(library, postman) -> None:
    library.put("1", "The lighthouse")
    postman.loses = lambda number: True
    report = sync(
        library.client, library.name, postman, wait=True, patience=QUICK, listening=lambda space: False
    )
    assert (report.pending, report.embedded) == (1, 0)
    assert "trifuse up" in report.stalled


def test_nobody_listening_is_told_once_and_waited_for(library, postman) -> None:
    library.put("1", "The lighthouse")
    patience = Patience(lease_s=0.3, stall_s=5.0, notice_s=0.1, silence_s=4.0, poll_s=0.05)
    asked: list[Space] = []
    told: list[Step] = []
    postman.loses = lambda number: not asked

    def nobody(space: Space) -> bool:
        asked.append(space)
        return False

    report = sync(
        library.client,
        library.name,
        postman,
        wait=True,
        patience=patience,
        listening=nobody,
        progress=told.append,
    )
    assert (report.embedded, report.stalled) == (1, "")
    (note,) = (step.note for step in told if step.note)
    assert "no worker is listening on the queue 'trifuse.test-hash-" in note
    assert told[-1] == Step("embedding", library.name, total=1, done=1)


def test_a_worker_that_does_nothing_ends_the_wait(library, postman) -> None:
    library.put("1", "The lighthouse")
    postman.loses = lambda number: True
    report = sync(
        library.client, library.name, postman, wait=True, patience=QUICK, listening=lambda space: True
    )
    assert report.pending == 1
    assert "trifuse status" in report.stalled
    assert len(postman.messages) > 5  # queued again and again before giving up


def test_no_more_is_queued_than_may_be_under_way(library, postman) -> None:
    for number in range(10):
        library.put(str(number), f"Volume {number}")
    postman.loses = lambda number: True
    patience = Patience(lease_s=0.2, stall_s=1.0, poll_s=0.05, window=3)
    report = sync(library.client, library.name, postman, wait=True, patience=patience)
    assert report.pending == 10
    assert len(set(postman.ids)) == 3


def test_a_broker_that_is_away_is_an_error_at_once_but_waited_for_while_waiting(library, postman) -> None:
    library.put("1", "The lighthouse")
    tries = []

    def flaky(*message: Any) -> None:
        tries.append(message)
        if len(tries) < 3:
            raise HintsUndelivered("the broker is away")
        postman(*message)

    with pytest.raises(HintsUndelivered):
        sync(library.client, library.name, flaky)
    assert sync(library.client, library.name, flaky, wait=True, patience=QUICK).embedded == 1

    def down(*message: Any) -> None:
        raise HintsUndelivered("the broker is away")

    library.edit("1", title="The harbour")
    report = sync(library.client, library.name, down, wait=True, patience=QUICK)
    assert (report.pending, report.stalled) == (1, "the broker is away")


def test_b8_an_edit_while_sync_waits_is_embedded_too(library, postman) -> None:
    library.put("1", "The lighthouse")

    def edit_once() -> None:
        if len(postman.messages) == 1:
            library.edit("1", title="The harbour")

    postman.after = edit_once
    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert report.pending == 0
    mark = library.get("1")["_source"]["trifuse"]["fields"][VECTOR_FIELD]
    assert mark["hash"] == text_hash("The harbour")


def test_a_document_that_is_deleted_while_sync_waits_is_not_waited_for(library, postman) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    postman.loses = lambda number: library.client.delete(index=library.name, id="2") is None
    report = sync(library.client, library.name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=0, failed=0)


def test_a_field_that_is_detached_while_sync_waits_ends_it_at_once(library, postman) -> None:
    library.put("1", "The lighthouse")
    postman.loses = lambda number: number > 1 or bool(detach(library.client, library.name))
    with pytest.raises(FieldDetached, match=r"was detached meanwhile \(the index's _meta doesn't name it"):
        sync(library.client, library.name, postman, wait=True, patience=QUICK)


def test_an_index_that_is_made_anew_while_sync_waits_ends_it_at_once(library, make_library, postman) -> None:
    library.put("1", "The lighthouse")

    def lost(number: int) -> bool:
        if number == 1:
            library.client.indices.delete(index=library.name)
            make_library(library.name).put("1", "The lighthouse")
        return True

    postman.loses = lost
    with pytest.raises(FieldDetached, match="was deleted, and made again"):
        sync(library.client, library.name, postman, wait=True, patience=QUICK)


def test_an_index_that_is_deleted_while_sync_waits_ends_it_at_once(library, postman) -> None:
    library.put("1", "The lighthouse")
    postman.loses = lambda number: bool(library.client.indices.delete(index=library.name))
    with pytest.raises((FieldDetached, IndexMissing)):
        sync(library.client, library.name, postman, wait=True, patience=QUICK)


def test_progress_counts_up_to_what_was_pending(library, postman) -> None:
    for number in range(4):
        library.put(str(number), f"Volume {number}")
    told: list[Step] = []
    sync(library.client, library.name, postman, wait=True, patience=QUICK, progress=told.append)
    assert told[0] == Step("embedding", library.name, total=4, done=0)
    assert told[-1] == Step("embedding", library.name, total=4, done=4)


def test_sentences_and_past_queries_are_synced_with_the_index(make_library, index_name, postman) -> None:
    library = make_library(index_name)
    library.put("1", "The lighthouse stands on a rock. The harbour is below it.")
    attach_sentences(library.client, index_name, text=["title"], encoder=library.space.encoder)
    make_library(f"trifuse-queries-{index_name}").put("q", "light house")
    report = sync(library.client, index_name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=4, skipped=0, failed=0)
    assert {"1", "q"} < set(postman.ids)
    library.edit("1", title="The lighthouse stands on a rock.")
    report = sync(library.client, index_name, postman, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=2, failed=0)  # a sentence less


@pytest.mark.parametrize("wait", [False, True])
def test_documents_come_before_the_sentences_that_are_made_of_them(
    make_library, index_name, postman, wait
) -> None:
    """A large index has its vectors while it is split, and what takes so long is told."""
    library = make_library(index_name)
    library.put("1", "The lighthouse stands on a rock. The harbour is below it.")
    (name,) = attach_sentences(library.client, index_name, text=["title"], encoder=library.space.encoder)
    events: list[tuple[str, Any]] = []

    def enqueue(index: str, field: str, space: Space, ids: Sequence[Hint], /) -> None:
        events.append(("queued", index))
        postman(index, field, space, ids)

    def tell(step: Any) -> None:
        if step.doing == "splitting":
            events.append(("split", step))

    sync(library.client, index_name, enqueue, wait=wait, patience=QUICK, progress=tell)
    split = ("split", Step("splitting", name, total=1, done=1))
    assert list(dict.fromkeys(events)) == [("queued", index_name), split, ("queued", name)]


def test_past_queries_end_up_in_one_segment(make_library, index_name, postman) -> None:
    make_library(index_name)
    queries = make_library(f"trifuse-queries-{index_name}")
    for number in range(3):
        queries.put(str(number), f"light house {number}")
        queries.client.indices.refresh(index=queries.name)

    def segments() -> int:
        found = queries.client.indices.segments(index=queries.name)["indices"][queries.name]["shards"]["0"]
        return sum(segment["search"] for segment in found[0]["segments"].values())

    assert segments() == 3
    sync(queries.client, index_name, postman, wait=True, patience=QUICK)
    deadline = time.monotonic() + 60
    while segments() > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert segments() == 1


def test_an_alias_stands_for_its_indexes(make_library, index_name, postman) -> None:
    for part in ("a", "b"):
        make_library(f"{index_name}-{part}").put(part, f"Volume {part}")
        postman.client.indices.put_alias(index=f"{index_name}-{part}", name=f"{index_name}-all")
    assert sync(postman.client, f"{index_name}-all", postman, wait=True, patience=QUICK).embedded == 2
    assert counts(postman.client, f"{index_name}-all")["documents"] == 2


def test_b6_a_refresh_interval_that_a_killed_load_left_is_put_back(library, postman) -> None:
    settings = {"index": {"refresh_interval": "7s"}}
    library.client.indices.put_settings(index=library.name, body=settings)
    save_refresh(library.client, library.name)  # and then the load was killed

    def interval() -> str:
        found = library.client.indices.get_settings(index=library.name)
        return str(found[library.name]["settings"]["index"]["refresh_interval"])

    assert interval() == LOAD_INTERVAL
    sync(library.client, library.name, postman)
    assert interval() == "7s"


def test_cursors_stand_at_the_end_after_a_sync_and_say_nothing_of_another_history(library, postman) -> None:
    library.put("1", "The lighthouse")
    sync(library.client, library.name, postman, wait=True, patience=QUICK)
    cursors = read_cursors(library.client, library.target)
    assert {seq_no for _, seq_no in cursors.shards.values()} == {library.last_writes()[0]}
    assert cursors.at is not None


def test_what_cannot_be_synced_is_an_error(client, library, index_name, postman, plain_index) -> None:
    with pytest.raises(IndexMissing, match="trifuse load"):
        sync(client, f"{index_name}-none", postman)
    with pytest.raises(IndexNotOurs, match="trifuse attach"):
        sync(client, plain_index(f"{index_name}-plain"), postman)
