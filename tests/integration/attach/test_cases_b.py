"""The cases from the field about vectors and bulk writing, on indexes of other writers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach, plan_attach
from trifuse.indexer.errors import AttachRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.sync import sync
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
    client: OpenSearch,
    encoder: Encoder,
    make: Any,
    plan: Any,
    odd: Any,
    keep: Any,
    failures: Any,
    exact: bool,
) -> None:
    """They are in the failed list with document and field; the others are embedded, and are found."""
    name = make(settings={"knn": not exact}, docs=[{"title": title} for title in [*UNUSABLE, "Gout"]])
    odd.numbers = {title: number for title, (number, _) in UNUSABLE.items()}
    apply_attach(client, plan(name, "title", exact=exact))
    keep(name, 5)
    failed = failures(name, "01234")
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
    assert sorted(failures(name, "01234")) == ["1", "2", "3"]


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
