"""The cases from the field about two at once (B7), on indexes of other writers."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.encoder.templates import TextTemplate, text_hash
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach, detach, plan_attach
from trifuse.indexer.embedded import embedded_field
from trifuse.indexer.errors import AttachRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.load import load
from trifuse.indexer.meta import read_meta
from trifuse.indexer.readers import Record
from trifuse.indexer.state import get_state
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=1.0, stall_s=10.0, silence_s=5.0, poll_s=0.05)
NARROW = EncoderSpace("narrow", "r1", "fp32", "cls", 8, True, "cosine")


def _at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each returned, or raised."""
    with ThreadPoolExecutor(len(acts)) as pool:
        started = [pool.submit(act) for act in acts]
    return [each.exception() or each.result() for each in started]


def test_b7_two_attach_at_once(client: OpenSearch, make: Any, plan: Any, encoder: Encoder, docs: Any) -> None:
    """The same twice: one vector field, what each of them queues is written once, and it detaches."""
    name = make({"_meta": {"owner": "a"}})
    plans = [plan(name), plan(name)]
    done = _at_once(*(partial(apply_attach, client, found) for found in plans))
    assert done == [[embedded_field(client, name, "trifuse_vector")]] * 2
    reports = _at_once(*[partial(_keep, client, encoder, name)] * 2)
    assert [(report.pending, report.failed) for report in reports] == [(0, 0)] * 2
    assert {client.get(index=name, id=doc_id)["_version"] for doc_id in "012"} == {2}
    kept = get_state(client, "attach", done[0][0].uuid)
    assert kept is not None
    assert kept["meta"] == {"owner": "a"}
    detach(client, name)
    assert read_meta(client, name) == {"owner": "a"}


@pytest.mark.parametrize("later", ["text", "dimension", "field"])
def test_b7_two_attach_that_contradict_each_other(
    client: OpenSearch, make: Any, plan: Any, embed_pending: Any, later: str
) -> None:
    """Both looked before either wrote: the first holds, the other is refused, and takes nothing away."""
    name = make()
    first = plan(name)
    other = {
        "text": lambda: plan(name, "title"),
        "dimension": lambda: plan_attach(client, name, ["title", "body"], NARROW, accept_version_bump=True),
        "field": lambda: plan(name, field="another"),
    }[later]()
    (target,) = apply_attach(client, first)
    before = client.indices.get_mapping(index=name), get_state(client, "attach", target.uuid)
    with pytest.raises(AttachRefused, match=f"{name}.*it was attached to meanwhile"):
        apply_attach(client, other)
    assert before == (client.indices.get_mapping(index=name), get_state(client, "attach", target.uuid))
    assert embed_pending(name).skipped == 3


def test_b7_two_attach_that_contradict_each_other_over_an_alias(
    client: OpenSearch, make: Any, plan: Any
) -> None:
    """The second index was taken by another: the first has nothing of the refused one either."""
    first, second = make(suffix="-a"), make(suffix="-b")
    both = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=both)
    late = plan(both)
    (target,) = apply_attach(client, plan(second, "title"))
    with pytest.raises(AttachRefused, match=second):
        apply_attach(client, late)
    assert read_meta(client, first) == {}
    assert embedded_field(client, second, "trifuse_vector") == target


def test_b7_sync_twice_at_once(client: OpenSearch, make: Any, plan: Any, encoder: Encoder) -> None:
    """Each queues everything, a worker gets each hint twice: one version for each vector."""
    name = make(docs=[{"title": f"Volume {number}"} for number in range(60)])
    apply_attach(client, plan(name, "title"))
    reports = _at_once(*[partial(_keep, client, encoder, name)] * 2)
    assert [(report.pending, report.failed) for report in reports] == [(0, 0)] * 2
    client.indices.refresh(index=name)
    hits = client.search(index=name, body={"size": 100, "version": True, "_source": False})["hits"]["hits"]
    assert [hit["_version"] for hit in hits] == [2] * 60


def test_b7_a_load_into_an_index_while_it_is_attached_to(
    client: OpenSearch, index_name: str, encoder: Encoder
) -> None:
    """An index of trials has its vectors already: the same attach goes on, another text is refused to both.

    Each document is written once by the load and once with its vector.
    """
    space = Space(encoder.space, TextTemplate(("brief_title", "brief_summary")))
    load(client, [], index_name, space=space)
    trials = [Trial(nct_id=f"T{number}", brief_title=f"Volume {number}") for number in range(40)]
    records = [Record(trial, "f.json") for trial in trials]

    def attach() -> SyncReport:
        found = plan_attach(client, index_name, ["brief_title", "brief_summary"], encoder.space)
        assert (found.refused, found.attached) == (False, True)
        apply_attach(client, found)
        return _keep(client, encoder, index_name)

    def attach_other() -> bool:
        return plan_attach(client, index_name, ["eligibility"], encoder.space).refused

    loading = partial(load, client, records, index_name, space=space, batch_items=5)
    report, attached, other = _at_once(loading, attach, attach_other)
    assert (report.indexed, report.rejected) == (40, [])
    assert (attached.failed, other) == (0, True)  # pending: what was loaded after its last look
    assert _keep(client, encoder, index_name) == SyncReport(0, 40 - attached.embedded, attached.embedded, 0)
    with pytest.raises(SpaceMismatch, match="is asked for"):
        load(client, records, index_name, space=Space(encoder.space, TRIAL_TEMPLATE))
    hits = client.search(index=index_name, body={"size": 100, "version": True})["hits"]["hits"]
    assert [hit["_version"] for hit in hits] == [2] * 40
    assert all("trifuse_vector" in hit["_source"] for hit in hits)


def _keep(client: OpenSearch, encoder: Encoder, name: str) -> SyncReport:
    """`sync --wait`, with a worker that does at once what it is told."""
    return sync(
        client,
        name,
        lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None,
        wait=True,
        patience=QUICK,
    )


def test_b7_the_owner_loads_while_it_is_attached_to(
    client: OpenSearch, make: Any, plan: Any, encoder: Encoder
) -> None:
    """Whole documents, over and over: the vector that ends up there is of the newest text."""
    name = make(docs=[{"title": f"Volume {number}"} for number in range(30)])

    def write() -> None:
        for edition in range(5):
            lines: list[dict[str, Any]] = []
            for number in range(40):
                lines += [{"index": {"_id": str(number)}}, {"title": f"Volume {number}, edition {edition}"}]
            assert not client.bulk(index=name, body=lines)["errors"]

    def attach() -> None:
        apply_attach(client, plan(name, "title"))
        _keep(client, encoder, name)

    assert _at_once(write, attach) == [None, None]
    assert _keep(client, encoder, name).pending == 0
    for number in range(40):
        source = client.get(index=name, id=str(number))["_source"]
        assert "trifuse_vector" in source
        assert source["trifuse"]["fields"]["trifuse_vector"]["hash"] == text_hash(source["title"])
        assert source["title"] == f"Volume {number}, edition 4"
