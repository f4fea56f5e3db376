"""The cases from the field about vectors and bulk writing, on indexes of other writers."""

from __future__ import annotations

import threading
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
from trifuse.indexer.failures import read_failures
from trifuse.indexer.follow import Patience
from trifuse.indexer.load import load
from trifuse.indexer.meta import read_meta
from trifuse.indexer.readers import Record
from trifuse.indexer.state import get_state
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial
from trifuse.indexer.watch import watch
from trifuse.ranker import HybridRanker
from trifuse.worker import sweep as sweeping
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=1.0, stall_s=10.0, silence_s=5.0, poll_s=0.05)
UNUSABLE = {
    "Zero": (0.0, "it is all zeros"),
    "Nan": (float("nan"), "it has NaN"),
    "Inf": (float("inf"), "it has an infinity"),
    "Huge": (1e30, "its norm is beyond float32"),
}
TEXTS = {"title": {"type": "text"}, "body": {"type": "text"}}
LUCENE = {"name": "hnsw", "engine": "lucene", "space_type": "l2"}
NARROW = EncoderSpace("narrow", "r1", "fp32", "cls", 8, True, "cosine")


@pytest.fixture(params=["sync", "watch", "sweep"])
def keep(
    request: pytest.FixtureRequest, client: OpenSearch, odd: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, int], None]:
    """Brings an index of so many documents up to date, in each of the ways that there are."""

    def bring(index: str, field: str, space: Any, ids: Any) -> None:
        embed(client, odd, index, field, ids)

    def by_watch(name: str, documents: int) -> None:
        stop = threading.Event()

        def see(seen: Any) -> None:
            if seen.embedded + seen.skipped + seen.failed >= documents and not seen.lag_operations:
                stop.set()

        watch(client, name, bring, stop=stop, patience=QUICK, interval_s=0.2, progress=see)

    def by_sweep(name: str, documents: int) -> None:
        monkeypatch.setattr(sweeping, "_own_indexes", lambda client: [name])  # others share the server
        assert sweeping.sweep(client, bring, lambda queue: 0).swept == {name: documents}

    def by_sync(name: str, documents: int) -> None:
        assert sync(client, name, bring, wait=True, patience=QUICK).pending == 0

    return {"sync": by_sync, "watch": by_watch, "sweep": by_sweep}[request.param]


@pytest.mark.parametrize("exact", [False, True], ids=["in_place", "exact"])
def test_b1_vectors_that_cannot_be_used(
    client: OpenSearch, encoder: Encoder, make: Any, plan: Any, odd: Any, keep: Any, exact: bool
) -> None:
    """They are in the failed list with document and field; the others are embedded, and are found."""
    name = make(settings={"knn": not exact}, docs=[{"title": title} for title in [*UNUSABLE, "Gout"]])
    odd.numbers = {title: number for title, (number, _) in UNUSABLE.items()}
    (target,) = apply_attach(client, plan(name, "title", exact=exact))
    keep(name, 5)
    failed = read_failures(client, target, list("01234"))
    assert {doc_id: (item.doc_id, item.index, item.field) for doc_id, item in failed.items()} == {
        doc_id: (doc_id, name, "trifuse_vector") for doc_id in "0123"
    }
    for doc_id, (_, why) in zip("0123", UNUSABLE.values(), strict=True):
        assert failed[doc_id].reason.startswith(f"the vector for field 'trifuse_vector' can't be used: {why}")
        assert client.get(index=name, id=doc_id)["_version"] == 1  # the owner's document, as it was
    client.indices.refresh(index=name)
    body = {"query": {"match": {"title": "nothingmatchesthis"}}}
    answer = HybridRanker(client, encoder).search(name, body, text="swollen joints")
    assert answer["trifuse"]["legs"]["dense"]["state"] == "ok"
    assert [hit["_id"] for hit in answer["hits"]["hits"]] == ["4"]
    odd.numbers = {}
    client.index(index=name, id="0", body={"title": "Asthma"})
    keep(name, 1)
    assert "trifuse_vector" in client.get(index=name, id="0")["_source"]
    assert sorted(read_failures(client, target, list("01234"))) == ["1", "2", "3"]


@pytest.mark.parametrize("mode", ["default", "named", "exact", "copy"])
def test_b2_a_field_of_the_owners_by_another_dimension(
    client: OpenSearch, make: Any, refused: Any, plan: Any, mode: str
) -> None:
    """A field of the owner's is never taken: another name is, unless it was asked for by its name."""
    theirs = {"type": "knn_vector", "dimension": 768, "method": LUCENE}
    named = "meaning" if mode == "named" else "trifuse_vector"
    exact = mode == "exact"
    if exact:
        del theirs["method"]
    name = make({"properties": {**TEXTS, named: theirs}}, {"knn": not exact})
    if mode == "named":
        assert refused(name, field="meaning") == {"names": "name another (--field)"}
    else:
        found = plan(name, exact=exact, copy=mode == "copy")
        assert (found.refused, found.field) == (False, "trifuse_vector_2")


def test_b2_another_dimension_than_the_vectors_that_are_there(
    client: OpenSearch, make: Any, attach: Any, odd: Any
) -> None:
    """By the index, and by an alias over two of which one has them: refused, and nothing is written."""
    first, second = make(suffix="-a"), make(suffix="-b")
    both = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=both)
    attach(first)
    before = _all_of(client, both)
    for name in (first, both):
        for options in ({}, {"field": "trifuse_vector"}, {"field": "another"}, {"copy": True}):
            found = plan_attach(
                client, name, ["title", "body"], NARROW, **{"accept_version_bump": True, **options}
            )
            assert found.refused, (name, options)
            with pytest.raises(AttachRefused):
                apply_attach(client, found)
    assert _all_of(client, both) == before


def test_b2_a_field_that_was_made_again_in_another_dimension(
    client: OpenSearch, make: Any, attach: Any, odd: Any
) -> None:
    """A template of the owner's repeats `_meta`, and maps the vectors of an older encoder."""
    name = make()
    attach(name)
    mappings = client.indices.get_mapping(index=name)[name]["mappings"]
    mappings["properties"]["trifuse_vector"]["dimension"] = 768
    client.indices.delete(index=name)
    make(mappings)
    before = _all_of(client, name)
    with pytest.raises(SpaceMismatch, match=r"dimension 768.* 384"):
        sync(client, name, lambda *_: pytest.fail("something was queued"))
    with pytest.raises(SpaceMismatch, match=r"dimension 768.* 384"):
        embed(client, odd, name, "trifuse_vector", [("0", None)])
    assert (odd.texts, _all_of(client, name)) == ([], before)


def _all_of(client: OpenSearch, name: str) -> Any:
    """The mapping and all documents with their versions."""
    client.indices.refresh(index=name)
    hits = client.search(index=name, body={"version": True, "sort": ["_index", "_doc"]})["hits"]["hits"]
    return client.indices.get_mapping(index=name), hits


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
    assert (attached.pending, attached.failed, other) == (0, 0, True)
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
