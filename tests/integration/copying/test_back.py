"""Switching back carries along what was written to the copy since the switch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException

from trifuse.indexer.copying import Copy, complete, copies_of, finish, roll_back
from trifuse.indexer.errors import CopyRefused
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
    client.indices.refresh(index=live)
    hits = client.search(index=live, body={"size": 100})["hits"]["hits"]
    assert {(hit["_id"], None): hit["_source"] for hit in hits} == wanted
    client.index(index=live, id="after", body={"title": "after"})
    assert [copy.index for copy in copies_of(client, live)] == [switched.index]
    assert complete(client, switched, enqueue, patience=QUICK).switched
    assert snapshot(switched.index) == {**wanted, ("after", None): {"title": "after"}}
    with pytest.raises(AuthorizationException):
        client.index(index=switched.source, id="late", body={"title": "late"})


@pytest.mark.parametrize("step", ["_open_source", "_return_mapping", "_carry", "moves", "unblock"])
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
