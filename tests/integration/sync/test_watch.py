"""Watching indexes of other writers, with workers of the test's own making."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.errors import HintsUndelivered, IndexMissing
from trifuse.indexer.follow import Patience
from trifuse.indexer.watch import watch
from trifuse.indexer.watched import Watched
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=1.0, stall_s=3.0, silence_s=1.0, poll_s=0.05)

Start = Callable[..., "list[Watched]"]


@pytest.fixture
def start(client: OpenSearch, encoder: Any, postbox: Any, in_thread: Any) -> Start:
    """Starts watching with a worker that does at once what it is told; the counts, as they come."""
    postbox.deliver = lambda index, field, ids: embed(client, encoder, index, field, ids)

    def run(index: str, *, said: list[str] | None = None, enqueue: Any = postbox, **options: Any) -> Any:
        told: list[Watched] = []
        say = (said if said is not None else []).append
        given = {"patience": QUICK, "interval_s": 0.2, "progress": told.append, "say": say, **options}
        in_thread(lambda stop: watch(client, index, enqueue, stop=stop, **given))
        return told

    return run


def test_whatever_an_owner_does_is_put_right_within_seconds_in_an_index_that_never_refreshes(
    own: Any, start: Start, until: Any, postbox: Any
) -> None:
    index = own(refresh_interval="-1")
    index.attach()
    index.put("1", "The harbour")
    told = start(index.name)
    until(lambda: bool(told) and told[-1].embedded == 2)
    assert index.holds("0", "The first edition") and index.holds("1", "The harbour")
    index.put("0", "The second edition")  # drops vector and mark
    index.edit("1", "The harbour at night")  # leaves a stale one
    index.put("2", "The quay")
    index.put("3", "gone soon")
    index.client.delete(index=index.name, id="3")
    until(lambda: index.holds("0", "The second edition"), within_s=5)
    until(lambda: index.holds("1", "The harbour at night"), within_s=5)
    until(lambda: index.holds("2", "The quay"), within_s=5)
    until(lambda: told[-1].pending == 0 and told[-1].lag_operations == 0 and told[-1].embedded >= 5)
    assert (told[-1].failed, told[-1].indexes) == (0, (index.name,))


def test_our_own_writes_are_read_once_and_what_rests_is_left_alone(
    own: Any, start: Start, until: Any, postbox: Any
) -> None:
    index = own(refresh_interval="-1")
    index.attach()
    told = start(index.name)
    until(lambda: index.holds("0", "The first edition"))
    until(lambda: bool(told) and told[-1].pending == 0 and told[-1].lag_operations == 0 and told[-1].seen > 0)

    def refreshes() -> int:
        stats = index.client.indices.stats(index=index.name, metric="refresh")
        return int(stats["_all"]["primaries"]["refresh"]["total"])

    before, looks = (refreshes(), index.version("0"), len(postbox.messages)), len(told)
    until(lambda: len(told) >= looks + 5)
    assert (refreshes(), index.version("0"), len(postbox.messages)) == before
    assert told[-1].seen == 1  # the worker's write


def test_lost_hints_are_queued_again_when_their_lease_is_over(
    own: Any, start: Start, until: Any, postbox: Any
) -> None:
    index = own()
    index.attach()
    bring, lost = postbox.deliver, []

    def lose_some(name: str, field: str, ids: Sequence[Any]) -> None:
        if len(lost) < 2:
            lost.append(ids)
        else:
            bring(name, field, ids)

    postbox.deliver = lose_some
    start(index.name)
    until(lambda: index.holds("0", "The first edition"))
    assert len(postbox.messages) == 3


def test_hints_carry_the_routing_also_where_it_is_required(own: Any, start: Start, until: Any) -> None:
    index = own(shards=3)
    index.attach()
    told = start(index.name)
    for number in range(6):
        index.put(f"r{number}", f"Volume {number}", routing=f"shelf {number}")
    for number in range(6):
        until(lambda n=number: index.holds(f"r{n}", f"Volume {n}", routing=f"shelf {n}"), within_s=10)
    until(lambda: told[-1].pending == 0 and told[-1].embedded >= 7)
    assert (told[-1].skipped, told[-1].failed) == (0, 0)


def test_an_index_that_is_made_again_under_its_name_is_followed(own: Any, start: Start, until: Any) -> None:
    index, said = own(), []
    index.attach()
    start(index.name, said=said)
    until(lambda: index.holds("0", "The first edition"))
    index.client.indices.delete(index=index.name)
    until(lambda: any("there is no index" in text for text in said))
    again = own()
    until(lambda: any("has no vector field" in text for text in said))
    again.attach()
    until(lambda: again.holds("0", "The first edition"))
    until(lambda: said[-1] == "all is well again")
    assert sum("there is no index" in text for text in said) == 1
    assert f"the index {index.name!r} (trifuse_vector) isn't looked after any more" in said


def test_an_alias_that_moves_is_followed(
    own: Any, start: Start, until: Any, index_name: str, client: OpenSearch
) -> None:
    old, new, alias = own(f"{index_name}-old"), own(f"{index_name}-new"), f"{index_name}-alias"
    for index in (old, new):
        index.attach()
    client.indices.put_alias(index=old.name, name=alias)
    told = start(alias)
    until(lambda: bool(told) and told[-1].embedded == 1)
    assert old.holds("0", "The first edition")
    assert not new.holds("0", "The first edition")
    moves = [{"remove": {"index": old.name, "alias": alias}}, {"add": {"index": new.name, "alias": alias}}]
    client.indices.update_aliases(body={"actions": moves})
    until(lambda: new.holds("0", "The first edition"))
    until(lambda: told[-1].embedded == 2)  # what was done in the old one counts
    assert told[-1].indexes == (new.name,)


def test_an_index_that_is_embedded_anew_has_two_fields_to_keep(own: Any, start: Start, until: Any) -> None:
    index = own()
    second = Space(index.space.encoder, TextTemplate(("note",)))
    index.attach("trifuse_vector", "trifuse_vector_2", spaces=(index.space, second))
    start(index.name)
    for title in ("The first edition", "The second edition"):
        index.put("0", title)
        until(lambda wanted=title: index.holds("0", wanted))
        until(lambda: index.holds("0", "n", field="trifuse_vector_2"))


def test_a_broker_that_is_away_is_said_once_and_waited_for(
    own: Any, start: Start, until: Any, postbox: Any
) -> None:
    index, said, tries = own(), [], []
    index.attach()

    def flaky(*message: Any) -> None:
        tries.append(message)
        if len(tries) < 3:
            raise HintsUndelivered("the broker is away")
        postbox(*message)

    start(index.name, said=said, enqueue=flaky)
    until(lambda: index.holds("0", "The first edition"))
    until(lambda: said == ["the broker is away", "all is well again"])


def test_nobody_listening_is_said_once(own: Any, start: Start, until: Any, postbox: Any) -> None:
    index, said = own(), []
    index.attach()
    postbox.deliver = lambda *message: None
    told = start(index.name, said=said, listening=lambda space: False)
    until(lambda: bool(said))
    looks = len(told)
    until(lambda: len(told) >= looks + 12)
    assert len(said) == 1
    assert "no worker is listening on the queue" in said[0]


def test_a_name_that_nothing_has_is_refused_at_the_start(
    client: OpenSearch, index_name: str, postbox: Any
) -> None:
    with pytest.raises(IndexMissing, match="there is no index"):
        watch(client, index_name, postbox, stop=threading.Event())
