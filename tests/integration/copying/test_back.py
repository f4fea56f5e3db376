"""Switching back carries along what was written to the copy since the switch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException

from trifuse.indexer.copying import Copy, abandon, complete, copies_of, finish, roll_back, switch
from trifuse.indexer.errors import CopyRefused, CopyTaken, IndexMissing
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue

Read = Callable[[str], dict[tuple[str, str | None], dict[str, Any]]]
QUICK = Patience(poll_s=0.05, longest_poll_s=0.1)
BACK = importlib.import_module("trifuse.indexer.copying.back")


class Killed(BaseException):
    """Stands for a process that ends here."""


@pytest.fixture
def switched(client: OpenSearch, begun: Copy, enqueue: Enqueue, live: str) -> Copy:
    """A copy that was switched to, and written to: edited, partly updated, deleted, added, a new field."""
    assert complete(client, begun, enqueue, patience=QUICK).switched
    client.index(index=live, id="1", body={"title": "edited"})
    client.update(index=live, id="2", body={"doc": {"extra": 1}})
    client.delete(index=live, id="3")
    client.index(index=live, id="new", body={"title": "added"})
    return begun


def test_changes_are_carried_back(
    client: OpenSearch, switched: Copy, live: str, enqueue: Enqueue, snapshot: Read
) -> None:
    """Three written, one deleted; no vector of ours; the old index is written again; and forth once more."""
    wanted = snapshot(switched.index)
    returned = roll_back(client, live)
    assert (returned.written, returned.deleted) == (3, 1)
    assert list(client.indices.get(index=live)) == [switched.source]
    settings = client.indices.get_settings(index=live)[switched.source]["settings"]["index"]
    assert "final_pipeline" not in settings
    client.indices.refresh(index=live)
    hits = client.search(index=live, body={"size": 100})["hits"]["hits"]
    assert {(hit["_id"], None): hit["_source"] for hit in hits} == wanted
    client.index(index=live, id="after", body={"title": "after"})
    assert [copy.index for copy in copies_of(client, live)] == [switched.index]
    assert complete(client, switched, enqueue, patience=QUICK).switched
    assert snapshot(switched.index) == {**wanted, ("after", None): {"title": "after"}}
    with pytest.raises(AuthorizationException):
        client.index(index=switched.source, id="late", body={"title": "late"})


@pytest.mark.parametrize("step", ["_open_source", "return_mapping", "_carry", "moves", "end_return"])
def test_killed_on_the_way_back_goes_on(
    client: OpenSearch,
    switched: Copy,
    live: str,
    snapshot: Read,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """A process that ends before a step: the next run goes on, and ends with the same documents."""
    wanted = snapshot(switched.index)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(BACK, step, killed)
        with pytest.raises(Killed):
            roll_back(client, live)
    roll_back(client, live)
    assert list(client.indices.get(index=live)) == [switched.source]
    assert snapshot(live) == wanted
    client.index(index=live, id="after", body={"title": "after"})


def test_nothing_to_go_back_to(client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue) -> None:
    """Before the switch, and after it was made final."""
    with pytest.raises(CopyRefused, match="nothing to go back from"):
        roll_back(client, live)
    complete(client, begun, enqueue, patience=QUICK)
    finish(client, live)
    with pytest.raises(CopyRefused, match="has no copy"):
        roll_back(client, live)


def _killed(*_: Any, **__: Any) -> None:
    raise Killed


def _blocked(client: OpenSearch) -> Callable[[str], bool]:
    def blocked(index: str) -> bool:
        found = client.indices.get_settings(index=index, name="index.blocks.write")
        return found.get(index, {}).get("settings", {}).get("index", {}).get("blocks") == {"write": "true"}

    return blocked


def _kill_on_the_way_back(client: OpenSearch, live: str, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """End a process before a step, without its putting anything right."""
    with monkeypatch.context() as patched:
        patched.setattr(BACK, step, _killed)
        patched.setattr(BACK, "undo_return", lambda *_: None)
        with pytest.raises(Killed):
            roll_back(client, live)


@pytest.mark.parametrize("step", ["_open_source", "_carry", "_move_back"])
def test_killed_on_the_way_back_stays_with_the_copy(
    client: OpenSearch, switched: Copy, live: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Switched to instead: the copy takes writes, the source none, and the way back leads on from there."""
    _kill_on_the_way_back(client, live, monkeypatch, step)
    with pytest.raises(CopyRefused, match="roll back before"):
        abandon(client, live)
    assert switch(client, switched).standing.phase == "switched"
    assert list(client.indices.get(index=live)) == [switched.index]
    blocked = _blocked(client)
    assert (blocked(switched.index), blocked(switched.source)) == (False, True)
    client.index(index=live, id="stayed", body={"title": "stayed"})
    roll_back(client, live)
    assert list(client.indices.get(index=live)) == [switched.source]
    assert client.exists(index=live, id="stayed")


def test_killed_after_the_way_back_is_switched_to_anew(
    client: OpenSearch,
    switched: Copy,
    live: str,
    enqueue: Enqueue,
    snapshot: Read,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The aliases had moved, and the copy was still blocked."""
    wanted = snapshot(switched.index)
    _kill_on_the_way_back(client, live, monkeypatch, "end_return")
    assert list(client.indices.get(index=live)) == [switched.source]
    assert complete(client, switched, enqueue, patience=QUICK).switched
    assert snapshot(live) == wanted
    client.index(index=live, id="after", body={"title": "after"})


def test_a_process_taken_for_dead_is_refused(
    client: OpenSearch, switched: Copy, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody stays with the copy while another is on the way back: what is written then isn't lost."""
    carry = BACK._carry

    def overtaken(*given: Any) -> Any:
        done = carry(*given)
        switch(client, switched)
        client.index(index=live, id="late", body={"title": "late"})
        return done

    with monkeypatch.context() as patched:
        patched.setattr(BACK, "_carry", overtaken)
        with pytest.raises(CopyTaken):
            roll_back(client, live)
    assert list(client.indices.get(index=live)) == [switched.index]
    client.index(index=live, id="later", body={"title": "later"})
    roll_back(client, live)
    assert client.exists(index=live, id="late")
    assert client.exists(index=live, id="later")


def test_an_alias_that_its_owner_renamed_goes_back_with_everything(
    client: OpenSearch, switched: Copy, live: str, snapshot: Read
) -> None:
    """Nothing is taken for gone back because the alias has another name now, and the copy isn't deleted."""
    renamed = f"{live}-renamed"
    client.indices.update_aliases(
        body={
            "actions": [
                {"remove": {"index": switched.index, "alias": live}},
                {"add": {"index": switched.index, "alias": renamed}},
            ]
        }
    )
    wanted = snapshot(switched.index)
    with pytest.raises(CopyRefused, match="roll back before"):
        abandon(client, renamed)
    roll_back(client, renamed)
    assert list(client.indices.get(index=renamed)) == [switched.source]
    assert not client.indices.exists_alias(name=live)
    assert snapshot(renamed) == wanted
    client.index(index=renamed, id="after", body={"title": "after"})


def test_a_source_that_was_written_to_again_is_neither_overwritten_nor_deleted(
    client: OpenSearch, switched: Copy, live: str
) -> None:
    """Its owner took the block off: what is written there is in no copy."""
    client.indices.put_settings(index=switched.source, body={"index.blocks.write": None})
    client.index(index=switched.source, id="only here", body={"title": "only here"})
    for end in (roll_back, finish):
        with pytest.raises(CopyRefused, match="took the write block off"):
            end(client, live)
    assert client.exists(index=switched.source, id="only here")
    assert list(client.indices.get(index=live)) == [switched.index]
    client.index(index=live, id="still written", body={"title": "still written"})


def test_a_source_deleted_on_the_way_back_leaves_the_copy_open(
    client: OpenSearch, switched: Copy, live: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is nothing to go back to; the copy takes writes once somebody stays with it."""
    _kill_on_the_way_back(client, live, monkeypatch, "_carry")
    client.indices.delete(index=switched.source)
    with pytest.raises(IndexMissing):
        roll_back(client, live)
    switch(client, switched)
    client.index(index=live, id="after", body={"title": "after"})
    finish(client, live)


def test_a_source_whose_name_an_alias_has_taken_is_gone(
    client: OpenSearch, switched: Copy, live: str
) -> None:
    """Its owner deleted it, and let readers of the old name go on: that leads to the copy."""
    client.indices.delete(index=switched.source)
    client.indices.put_alias(index=switched.index, name=switched.source)
    with pytest.raises(CopyRefused, match="is another than the one that was copied"):
        roll_back(client, live)
    finish(client, live)
    assert client.indices.exists(index=switched.index)
    assert not copies_of(client, live)
