"""The cases from the field about vectors and bulk writing, where an index is attached to by a copy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.attach import AttachPlan, detach
from trifuse.indexer.copying import Copy, begin, catch_up
from trifuse.indexer.copying.complete import CopyReport, complete
from trifuse.indexer.follow import Patience
from trifuse.indexer.refresh import restore_refresh, save_refresh
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=1.0, stall_s=10.0, silence_s=5.0, poll_s=0.05, longest_poll_s=0.2)


@pytest.fixture
def begun(client: OpenSearch, plan: Any) -> Callable[..., Copy]:
    """Begins the copy of an index, of its titles."""

    def made(name: str, *text: str) -> Copy:
        return _begin(client, plan(name, *(text or ("title",)), copy=True))

    return made


@pytest.fixture
def fill(client: OpenSearch, odd: Any) -> Callable[..., CopyReport]:
    """Completes a copy, with a worker that does at once what it is told."""

    def filled(copy: Copy, of: OpenSearch = client) -> CopyReport:
        return _complete(of, odd, copy)

    return filled


def _begin(client: OpenSearch, found: AttachPlan) -> Copy:
    assert not found.refused
    assert found.alias is not None
    return begin(client, found.name, alias=found.alias, space_field=(found.field, found.space))


def _complete(client: OpenSearch, encoder: Any, copy: Copy) -> CopyReport:
    return complete(
        client,
        copy,
        lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None,
        patience=QUICK,
    )


def _interval(client: OpenSearch, name: str) -> str | None:
    settings: Mapping[str, Any] = client.indices.get_settings(index=name)
    (entry,) = settings.values()
    value: str | None = entry["settings"]["index"].get("refresh_interval")
    return value


def test_b1_vectors_that_cannot_be_used(
    client: OpenSearch, make: Any, begun: Any, fill: Any, odd: Any, failures: Any
) -> None:
    """What failed is in the copy, and known by document and field: it is no reason not to switch."""
    name = make(settings={"knn": False}, docs=[{"title": title} for title in ("Zero", "Nan", "Gout")])
    odd.numbers = {"Zero": 0.0, "Nan": float("nan")}
    done = fill(begun(name))
    assert (done.copied, done.embedded, done.failed, done.switched) == (3, 1, 2, True)
    failed = failures(done.index, "012")
    assert {doc_id: (item.doc_id, item.field) for doc_id, item in failed.items()} == {
        doc_id: (doc_id, "trifuse_vector") for doc_id in "01"
    }
    assert client.get(index=f"{name}-dense", id="0")["_source"]["title"] == "Zero"


def test_b3_429_twice_for_everything_then_success(
    client: OpenSearch, make: Any, begun: Any, fill: Any, busy: Any
) -> None:
    """Each document is written once and counted once, however often the server had no room."""
    name = make()
    copy = begun(name)
    busy.refuse(r"/_bulk|/_mget|/_search|/_refresh|/_stats|/trifuse-state/_doc/.*")
    done = fill(copy, busy.client)
    assert (done.copied, done.embedded, done.pending, done.failed) == (3, 3, 0, 0)
    assert (done.switched, done.faults) == (True, ())
    assert {"/_bulk", f"/{name}/_search", f"/{copy.index}/_mget"} <= busy.refused
    assert {client.get(index=f"{name}-dense", id=doc_id)["_version"] for doc_id in "012"} == {2}


@pytest.mark.parametrize("owners", ["7s", None, "-1"])
def test_b6_the_copy_has_the_refresh_interval_of_its_source(
    client: OpenSearch, make: Any, begun: Any, fill: Any, owners: str | None
) -> None:
    """Also where the owner changes it meanwhile; and the source keeps its own, there and back."""
    name = make(settings={"refresh_interval": "3s"})
    copy = begun(name)
    catch_up(client, copy)
    client.indices.put_settings(index=name, body={"index": {"refresh_interval": owners}})
    assert fill(copy).switched
    assert (_interval(client, copy.index), _interval(client, name)) == (owners, owners)
    detach(client, f"{name}-dense")
    assert _interval(client, name) == owners


def test_b6_a_copy_that_is_made_while_a_load_runs(
    client: OpenSearch, make: Any, begun: Any, fill: Any
) -> None:
    """The load's interval is nobody's wish, whether the load ends before the switch or after it."""
    name = make(settings={"refresh_interval": "7s"})
    save_refresh(client, name)
    copy = begun(name)
    assert fill(copy).switched
    assert _interval(client, copy.index) == "7s"
    restore_refresh(client, name)
    assert _interval(client, name) == "7s"


def test_b7_two_attach_at_once(client: OpenSearch, make: Any, plan: Any, odd: Any) -> None:
    """One copy, which both fill; each document is written once, and once with its vector."""
    name = make(docs=[{"title": f"Volume {number}"} for number in range(40)])
    found = plan(name, "title", copy=True)

    def attach() -> CopyReport:
        return _complete(client, odd, _begin(client, found))

    with ThreadPoolExecutor(2) as pool:
        reports = [each.result() for each in [pool.submit(attach) for _ in range(2)]]
    assert {report.index for report in reports} == {f"{name}-trifuse-2"}
    assert [(report.switched, report.pending, report.failed) for report in reports] == [(True, 0, 0)] * 2
    assert sum(report.copied for report in reports) == 40
    assert list(client.indices.get_alias(name=f"{name}-dense")) == [f"{name}-trifuse-2"]
    client.indices.refresh(index=f"{name}-dense")
    hits = client.search(index=f"{name}-dense", body={"size": 100, "version": True})["hits"]["hits"]
    assert [hit["_version"] for hit in hits] == [2] * 40
    assert all("trifuse_vector" in hit["_source"] for hit in hits)


def test_b7_two_attach_at_once_that_contradict_each_other(
    client: OpenSearch, make: Any, plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each gets a copy of its own: of the text and for the alias that it asked for."""
    name = make()
    late = plan(name, "title", copy=True, alias=f"{name}-titles")
    create = client.indices.create
    first: list[Copy] = []

    def create_second(**given: Any) -> Any:
        if not first:
            monkeypatch.setattr(client.indices, "create", create)
            first.append(_begin(client, plan(name, "body", copy=True, alias=f"{name}-bodies")))
        return create(**given)

    monkeypatch.setattr(client.indices, "create", create_second)
    copy = _begin(client, late)
    assert (copy.alias, copy.space.template.fields) == (f"{name}-titles", ("title",))
    assert (first[0].alias, first[0].space.template.fields) == (f"{name}-bodies", ("body",))
    assert copy.index != first[0].index


def test_b2_a_template_of_the_owners_maps_another_dimension(
    client: OpenSearch, make: Any, begun: Any, fill: Any
) -> None:
    """It fits the copy's name, too: what attaching maps holds."""
    name = make(settings={"knn": False})
    theirs = {"type": "knn_vector", "dimension": 8, "method": {"name": "hnsw", "engine": "lucene"}}
    template = {"settings": {"index.knn": True}, "mappings": {"properties": {"trifuse_vector": theirs}}}
    client.indices.put_index_template(
        name=name, body={"index_patterns": [f"{name}*"], "priority": 7, "template": template}
    )
    try:
        done = fill(begun(name))
    finally:
        client.indices.delete_index_template(name=name)
    assert (done.embedded, done.failed, done.switched) == (3, 0, True)
    mapped = client.indices.get_mapping(index=done.index)[done.index]["mappings"]["properties"]
    assert mapped["trifuse_vector"]["dimension"] == 384
