"""The alias moves to a complete copy, whatever interrupts it."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException

from trifuse.indexer.copying import (
    Copy,
    abandon,
    begin,
    catch_up,
    complete,
    copies_of,
    faults_of,
    finish,
    roll_back,
    switch,
)
from trifuse.indexer.errors import CopyRefused, CopyTaken, IndexMissing
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.upkeep import keep_belongings

Read = Callable[[str], dict[tuple[str, str | None], dict[str, Any]]]
QUICK = Patience(poll_s=0.05, longest_poll_s=0.1)
SWITCH = importlib.import_module("trifuse.indexer.copying.switch")
COPIES = importlib.import_module("trifuse.indexer.copying.copies")
LEFT = importlib.import_module("trifuse.indexer.copying.left")


class Killed(BaseException):
    """Stands for a process that ends here."""


def _behind(client: OpenSearch, alias: str) -> list[str]:
    return sorted(client.indices.get(index=alias))


def test_the_whole_job(client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, snapshot: Read) -> None:
    """Filled, embedded, switched; the old index takes no writes; a second run has nothing to do."""
    report = complete(client, begun, enqueue, patience=QUICK)
    assert (report.copied, report.embedded, report.switched, report.faults) == (20, 20, True, ())
    assert _behind(client, live) == [begun.index]
    assert snapshot(begun.index) == snapshot(begun.source)
    with pytest.raises(AuthorizationException):
        client.index(index=begun.source, id="late", body={"title": "late"})
    client.index(index=live, id="21", body={"title": "to the copy"})
    assert client.exists(index=begun.index, id="21")
    assert copies_of(client, live) == []
    assert complete(client, begun, enqueue, patience=QUICK).switched
    finish(client, live)
    assert not client.indices.exists(index=begun.source)
    assert (
        "copy"
        not in client.indices.get_mapping(index=begun.index)[begun.index]["mappings"]["_meta"]["trifuse"]
    )


def test_an_incomplete_copy_is_refused(client: OpenSearch, begun: Copy, live: str) -> None:
    """Not filled; filled without vectors: the faults say so, and writers go on."""
    assert any("isn't copied to the end" in fault for fault in faults_of(client, begun))
    catch_up(client, begun)
    with pytest.raises(CopyRefused, match=r"20 documents .* lack their vector: `trifuse sync \S+ --wait`"):
        switch(client, begun)
    client.index(index=live, id="20", body={"title": "still written"})
    assert _behind(client, live) == [begun.source]
    abandon(client, live)
    assert not client.indices.exists(index=begun.index)
    with pytest.raises(CopyRefused, match="has no copy"):
        abandon(client, live)


@pytest.mark.parametrize(
    "step", ["block", "content_faults", "_note_shards", "give_settings", "_move", "_settle"]
)
def test_killed_in_a_switch_goes_on(
    client: OpenSearch,
    begun: Copy,
    live: str,
    enqueue: Enqueue,
    snapshot: Read,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
) -> None:
    """A process that ends before a step, without putting anything right: the next finishes."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)

    def killed(*_: Any, **__: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(SWITCH, step, killed)
        patched.setattr(SWITCH, "revert", lambda *_: None)
        with pytest.raises(Killed):
            switch(client, begun)
    assert switch(client, begun).standing.phase == "switched"
    assert _behind(client, live) == [begun.index]
    assert snapshot(begun.index) == snapshot(begun.source)


def test_a_failed_switch_lets_writers_go_on(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exception after the block: the source takes writes again, and the switch can be repeated."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)

    def failing(*_: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(SWITCH, "_move", failing)
        with pytest.raises(RuntimeError):
            switch(client, begun)
    client.index(index=live, id="20", body={"title": "title 20"})
    assert complete(client, begun, enqueue, patience=QUICK).switched


def test_aliases_move_as_they_are(
    client: OpenSearch, begun: Copy, index_name: str, live: str, enqueue: Enqueue
) -> None:
    """Filter, routings and the write index; all aliases of the source."""
    client.indices.put_alias(
        index=begun.source,
        name=f"{index_name}-few",
        body={"filter": {"term": {"n": 3}}, "index_routing": "a", "search_routing": "a,b"},
    )
    before = client.indices.get_alias(index=begun.source)[begun.source]["aliases"]
    complete(client, begun, enqueue, patience=QUICK)
    assert client.indices.get_alias(index=begun.index)[begun.index]["aliases"] == before
    assert client.indices.get_alias(index=begun.source)[begun.source]["aliases"] == {}


def test_an_owner_who_writes_meanwhile_loses_nothing(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, snapshot: Read
) -> None:
    """Adds, edits and deletes through the alias all the time, trying again when refused; two jobs at once."""
    stop, expected = threading.Event(), {str(n): f"title {n}" for n in range(20)}

    def own() -> None:
        number = 0
        while not stop.wait(0.1):
            number += 1
            doc_id = str(number % 40)
            try:
                if number % 7 == 0:
                    client.delete(index=live, id=doc_id, params={"ignore": 404})
                    expected.pop(doc_id, None)
                else:
                    client.index(index=live, id=doc_id, body={"title": f"edit {number}"})
                    expected[doc_id] = f"edit {number}"
            except AuthorizationException:
                number -= 1

    owner = threading.Thread(target=own)
    other = threading.Thread(target=lambda: complete(client, begun, enqueue, patience=QUICK))
    owner.start()
    other.start()
    try:
        for _ in range(5):
            if complete(client, begun, enqueue, patience=QUICK).switched:
                break
    finally:
        other.join()
        stop.set()
        owner.join()
    assert _behind(client, live) == [begun.index]
    assert {key[0]: value["title"] for key, value in snapshot(live).items()} == expected


@pytest.mark.parametrize("alias", ["v1", "two", "*"])
def test_aliases_that_cant_be_switched(
    client: OpenSearch, source: str, index_name: str, space: Any, alias: str
) -> None:
    """An index's own name, an alias over two indexes, a pattern."""
    client.indices.create(index=f"{index_name}-b", body={"aliases": {f"{index_name}-two": {}}})
    client.indices.put_alias(index=source, name=f"{index_name}-two")
    with pytest.raises(CopyRefused):
        begin(client, source, alias=f"{index_name}-{alias}", space_field=("trifuse_vector", space))
    with pytest.raises(CopyRefused, match="name one of these"):
        begin(client, f"{index_name}-two", alias=f"{index_name}-c", space_field=("trifuse_vector", space))
    with pytest.raises(IndexMissing):
        begin(client, f"{index_name}-none", alias=f"{index_name}-c", space_field=("trifuse_vector", space))


def test_a_source_that_somebody_made_read_only(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue
) -> None:
    """A write block is no obstacle, and stays where the switch fails; read_only is one, and said."""
    client.indices.put_settings(index=begun.source, body={"index.blocks.read_only": True})
    report = complete(client, begun, enqueue, patience=QUICK)
    assert not report.switched
    assert "read-only" in report.faults[0]
    client.indices.put_settings(index=begun.source, body={"index.blocks.read_only": None})
    client.indices.put_settings(index=begun.source, body={"index.blocks.write": True})
    assert complete(client, begun, enqueue, patience=QUICK).switched


def _kill_in_the_switch(client: OpenSearch, copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    """End a process after the block, without its putting anything right."""

    def killed(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(SWITCH, "content_faults", killed)
        patched.setattr(SWITCH, "revert", lambda *_: None)
        with pytest.raises(Killed):
            switch(client, copy)


def test_writers_go_on_after_a_switch_that_was_killed(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upkeep takes the block off once nobody can be at it; not before, and not of its owner's own block."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    _kill_in_the_switch(client, begun, monkeypatch)
    keep_belongings(client, live)
    with pytest.raises(AuthorizationException):
        client.index(index=live, id="20", body={"title": "too early"})
    monkeypatch.setattr(LEFT, "DEAD_S", 0.0)
    assert keep_belongings(client, live) == []
    client.index(index=live, id="20", body={"title": "title 20"})
    assert complete(client, begun, enqueue, patience=QUICK).switched


def test_a_switch_that_was_taken_for_dead_is_refused(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Writers went on meanwhile: the alias stays, and what they wrote is in the copy at the next attempt."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    monkeypatch.setattr(LEFT, "DEAD_S", 0.0)
    moves = SWITCH.moves

    def slow(*given: Any, **named: Any) -> Any:
        keep_belongings(client, live)
        client.index(index=live, id="20", body={"title": "written meanwhile"})
        return moves(*given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(SWITCH, "moves", slow)
        with pytest.raises(CopyTaken):
            switch(client, begun)
    assert _behind(client, live) == [begun.source]
    client.index(index=live, id="21", body={"title": "title 21"})
    assert complete(client, begun, enqueue, patience=QUICK).switched
    assert client.get(index=live, id="20")["_source"]["title"] == "written meanwhile"


def test_a_copy_deleted_in_the_switch_lets_writers_go_on(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody could find the block any more whose copy is gone."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)

    def deleted(*_: Any) -> None:
        client.indices.delete(index=begun.index)
        raise RuntimeError

    monkeypatch.setattr(SWITCH, "content_faults", deleted)
    with pytest.raises(RuntimeError):
        switch(client, begun)
    client.index(index=live, id="20", body={"title": "title 20"})


def test_a_copy_that_an_alias_stands_for_is_not_given_up(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue
) -> None:
    """Its owner has moved readers to it by hand."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    client.indices.put_alias(index=begun.index, name=f"{live}-by-hand")
    with pytest.raises(CopyRefused, match="by-hand"):
        abandon(client, live)
    assert client.indices.exists(index=begun.index)


def test_going_back_from_a_switch_that_was_killed_leaves_it_off(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The alias hadn't moved: writers go on at once, and the switch can be done later."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    _kill_in_the_switch(client, begun, monkeypatch)
    roll_back(client, live)
    client.index(index=live, id="20", body={"title": "title 20"})
    assert complete(client, begun, enqueue, patience=QUICK).switched


def test_an_empty_index_and_empty_shards_are_switched_to(
    client: OpenSearch, index_name: str, live: str, space: Any, enqueue: Enqueue, snapshot: Read
) -> None:
    """Without any document; then one in five shards, four of which nothing was ever written to."""
    source = f"{index_name}-v1"
    settings = {"number_of_shards": 5, "number_of_replicas": 0}
    properties = {"title": {"type": "text"}}
    body = {"settings": settings, "mappings": {"properties": properties}, "aliases": {live: {}}}
    client.indices.create(index=source, body=body)
    copy = begin(client, source, alias=live, space_field=("trifuse_vector", space))
    assert complete(client, copy, enqueue, patience=QUICK).switched
    roll_back(client, live)
    client.index(index=live, id="1", body={"title": "one"})
    assert complete(client, copy, enqueue, patience=QUICK).switched
    assert snapshot(live) == {("1", None): {"title": "one"}}


def test_a_switch_that_began_anew_keeps_its_block(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One process leaves off a switch that was killed, while another takes it up: the alias moves once."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    _kill_in_the_switch(client, begun, monkeypatch)
    left = COPIES.again(client, begun)
    new_door = SWITCH._new_door

    def overtaken(given: OpenSearch, copy: Copy) -> None:
        new_door(given, copy)
        monkeypatch.setattr(SWITCH, "_new_door", new_door)
        _kill_in_the_switch(client, begun, monkeypatch)  # as far as it has come by now

    monkeypatch.setattr(SWITCH, "_new_door", overtaken)
    SWITCH.revert(client, left)
    with pytest.raises(AuthorizationException):
        client.index(index=live, id="20", body={"title": "in neither"})
    assert switch(client, begun).standing.phase == "switched"


def test_the_source_takes_no_writes_after_a_switch_that_met_another_that_was_left_off(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The block was taken off in the last moment: it is back when the switch is done."""
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    moves = SWITCH.moves

    def opened(*given: Any, **named: Any) -> Any:
        client.indices.put_settings(index=begun.source, body={"index.blocks.write": None})
        return moves(*given, **named)

    monkeypatch.setattr(SWITCH, "moves", opened)
    assert switch(client, begun).standing.phase == "switched"
    with pytest.raises(AuthorizationException):
        client.index(index=begun.source, id="late", body={"title": "late"})
