"""Attaching into a copy: what a look allows is what works, and detaching gives it up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import AttachPlan, detach
from trifuse.indexer.copying import begin, catch_up
from trifuse.indexer.copying.complete import CopyReport, complete
from trifuse.indexer.copying.copies import Copy, Standing, again, keep_standing
from trifuse.indexer.errors import CopyRefused, ReembedRefused
from trifuse.indexer.reembed import begin as reembed
from trifuse.indexer.reembed import roll_back
from trifuse.worker.embedding import embed

Fill = Callable[[Copy], CopyReport]


@pytest.fixture
def begun(client: OpenSearch) -> Callable[[AttachPlan], Copy]:
    """Begins the copy of a plan."""

    def made(plan: AttachPlan) -> Copy:
        assert not plan.refused
        assert plan.alias is not None
        return begin(client, plan.name, alias=plan.alias, space_field=(plan.field, plan.space))

    return made


@pytest.fixture
def fill(client: OpenSearch, encoder: Encoder) -> Fill:
    """Completes a copy, embedding in this process."""

    def filled(copy: Copy) -> CopyReport:
        return complete(
            client, copy, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None
        )

    return filled


def test_a_filtered_source(client: OpenSearch, make: Any, plan: Any, begun: Any, fill: Fill) -> None:
    """What _source lacks isn't searched; the copy keeps its vectors in _source, and what copy_to fills."""
    properties = {"title": {"type": "text", "copy_to": "all"}, "all": {"type": "text"}}
    source = {"includes": ["title"]}
    name = make({"_source": source, "properties": properties}, docs=[{"title": "Gout", "all": "x"}])
    done = fill(begun(plan(name, "title", copy=True)))
    assert (done.switched, done.faults) == (True, ())
    (hit,) = client.search(index=f"{name}-dense", body={"query": {"match": {"all": "gout"}}})["hits"]["hits"]
    assert len(hit["_source"]["trifuse_vector"]) == 384
    assert detach(client, f"{name}-dense").indexes == (name,)
    assert client.get(index=name, id="0")["_source"] == {"title": "Gout"}


def test_detaching_gives_up_an_unfinished_copy(client: OpenSearch, make: Any, plan: Any, begun: Any) -> None:
    name = make()
    before = client.indices.get(index=name)
    copy = begun(plan(name, copy=True))
    report = detach(client, name)
    assert (report.indexes, report.documents, report.deleted) == ((name,), 0, (copy.index,))
    assert not client.indices.exists(index=copy.index)
    assert client.indices.get(index=name) == before


def test_no_detaching_under_a_copy_that_embeds_anew(client: OpenSearch, make: Any, attach: Any) -> None:
    name = make()
    client.indices.put_alias(index=name, name=f"{name}-alias")
    attach(name)
    reembed(client, f"{name}-alias", EncoderSpace("test-new", "1", "fp32", "cls", 8, True, "cosine"))
    before = client.indices.get(index=f"{name}*"), client.get(index=name, id="0")
    for by in (name, f"{name}-alias"):
        with pytest.raises(CopyRefused, match=f"trifuse reembed {name}-alias --abandon"):
            detach(client, by)
    assert (client.indices.get(index=f"{name}*"), client.get(index=name, id="0")) == before


def test_an_alias_moves_with_its_filter(
    client: OpenSearch, make: Any, plan: Any, begun: Any, fill: Fill
) -> None:
    name = make()
    late = {"range": {"year": {"gte": 2002}}}
    client.indices.put_alias(index=name, name=f"{name}-late", body={"filter": late})
    found = plan(f"{name}-late", copy=True, accept_version_bump=False)
    assert found.alias == f"{name}-late"
    done = fill(begun(found))
    assert done.switched
    aliases = client.indices.get_alias(name=f"{name}-late")
    assert aliases == {done.index: {"aliases": {f"{name}-late": {"filter": late}}}}
    with pytest.raises(ReembedRefused, match=f"trifuse detach {name}-late"):
        roll_back(client, f"{name}-late")
    assert client.indices.get_alias(name=f"{name}-late") == aliases
    again = plan(f"{name}-late", copy=True)
    assert again.attached
    assert not again.refused


@pytest.mark.parametrize("moved", [False, True], ids=["before", "after"])
def test_killed_in_the_switch_the_same_command_goes_on(
    client: OpenSearch, make: Any, plan: Any, begun: Any, fill: Fill, moved: bool
) -> None:
    """Before the alias had moved, or after: with the same copy, and with what was written to it meanwhile."""
    name = make()
    copy = begun(plan(name, copy=True))
    if moved:
        fill(copy)
        keep_standing(client, copy, replace(again(client, copy).standing, phase="switching"))
        client.index(index=f"{name}-dense", id="new", body={"title": "Written by the alias"})
        client.index(index=f"{name}-dense", id="0", body={"title": "Overwritten"})
    else:
        catch_up(client, copy)
        keep_standing(client, copy, Standing("switching", 2))
        client.indices.add_block(index=name, block="write")
    done = fill(begun(plan(name, copy=True)))
    assert (done.index, done.switched, done.faults) == (copy.index, True, ())
    assert list(client.indices.get_alias(name=f"{name}-dense")) == [copy.index]
    if moved:
        assert client.get(index=f"{name}-dense", id="new")["_source"]["title"] == "Written by the alias"
        assert client.get(index=f"{name}-dense", id="0")["_source"]["title"] == "Overwritten"


def test_an_alias_that_its_owner_has_moved_back(
    client: OpenSearch, make: Any, plan: Any, begun: Any, fill: Fill
) -> None:
    """By hand, past the commands: the copy that it stood for counts no more."""
    name = make()
    done = fill(begun(plan(name, copy=True)))
    moves = [{"remove": {"index": done.index, "alias": f"{name}-dense"}}]
    moves.append({"add": {"index": name, "alias": f"{name}-dense"}})
    client.indices.update_aliases(body={"actions": moves})
    found = plan(name, copy=True)
    assert (found.refused, found.attached, found.alias) == (False, False, f"{name}-dense")
    assert begun(found).index == f"{name}-trifuse-3"
