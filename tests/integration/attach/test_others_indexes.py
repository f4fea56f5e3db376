"""Indexes that some other writer made: each works, or is refused with what to do."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach
from trifuse.indexer.embedded import embedded_fields
from trifuse.indexer.failures import FAILED_INDEX
from trifuse.indexer.reading import find_places
from trifuse.indexer.sentences.estimate import estimate
from trifuse.indexer.sync import sync
from trifuse.ranker import HybridRanker
from trifuse.worker.embedding import embed


def dense_ids(client: OpenSearch, encoder: Encoder, name: str, text: str, field: str = "title") -> list[str]:
    """Ids of the hits that the dense leg gave, best first."""
    answer = HybridRanker(client, encoder).search(
        name, {"query": {"match": {field: "nothingmatchesthis"}}}, text=text
    )
    assert answer["trifuse"]["legs"]["dense"]["state"] == "ok", answer["trifuse"]
    return [hit["_id"] for hit in answer["hits"]["hits"]]


def fields_of(client: OpenSearch, name: str) -> list[str]:
    """The vector fields."""
    return [target.field for target in embedded_fields(client, name)]


def test_dynamic_mapping(client: OpenSearch, encoder: Encoder, make: Any, attach: Any) -> None:
    name = make()
    report = attach(name)
    assert (report.pending, report.skipped, report.failed) == (0, 3, 0)
    assert fields_of(client, name) == ["trifuse_vector"]
    assert dense_ids(client, encoder, name, "children who wheeze")[0] == "0"


def test_alias_over_two(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, docs: Any) -> None:
    first, second = make(docs=docs[:1], suffix="-a"), make(docs=docs[1:], suffix="-b")
    alias = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=alias)
    assert attach(alias).skipped == 3
    assert fields_of(client, alias) == ["trifuse_vector", "trifuse_vector"]
    answer = HybridRanker(client, encoder).search(
        alias, {"query": {"match": {"title": "nothingmatchesthis"}}}, text="high blood sugar"
    )
    assert answer["hits"]["hits"][0]["_source"]["year"] == 2003


def test_alias_over_two_is_all_or_none(client: OpenSearch, make: Any, refused: Any) -> None:
    first, second = make(suffix="-a"), make(settings={"knn": False}, suffix="-b")
    alias = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=alias)
    assert list(refused(alias)) == ["k-NN"]


def test_filtered_alias(client: OpenSearch, encoder: Encoder, make: Any, plan: Any, attach: Any) -> None:
    name = make()
    alias = f"{name}-late"
    client.indices.put_alias(index=name, name=alias, body={"filter": {"range": {"year": {"gte": 2002}}}})
    assert "also those that it hides" in next(f.text for f in plan(alias).findings if f.subject == "alias")
    attach(alias)
    assert sorted(dense_ids(client, encoder, alias, "children who wheeze")) == ["1", "2"]
    assert client.count(index=name, body={"query": {"exists": {"field": "trifuse_vector"}}})["count"] == 3


def test_dotted_fields(client: OpenSearch, encoder: Encoder, make: Any, attach: Any) -> None:
    """A dotted key in _source, the same path nested, and a path through a list of nested objects."""
    name = make(
        {
            "properties": {
                "about": {"properties": {"title": {"type": "text"}}},
                "parts": {"type": "nested", "properties": {"text": {"type": "text"}}},
            }
        },
        docs=[
            {"about.title": "Salbutamol for asthma in children"},
            {"about": {"title": "Statins after a heart attack"}},
            {"parts": [{"text": "Insulin pumps"}, {"text": "in type 1 diabetes"}]},
            {"about": {"title": ["Asthme de l’enfant", "小児喘息"]}},
        ],
    )
    assert attach(name, "about.title", "parts.text").skipped == 4
    vectors = {"exists": {"field": "trifuse_vector"}}
    assert client.count(index=name, body={"query": vectors})["count"] == 4
    assert dense_ids(client, encoder, name, "cholesterol and the heart", "about.title")[0] == "1"
    assert dense_ids(client, encoder, name, "blood sugar", "about.title")[0] == "2"


def test_dynamic_strict(client: OpenSearch, encoder: Encoder, make: Any, attach: Any) -> None:
    name = make(
        {
            "dynamic": "strict",
            "properties": {
                "title": {"type": "text"},
                "body": {"type": "text"},
                "year": {"type": "integer"},
            },
        }
    )
    assert attach(name).skipped == 3
    assert dense_ids(client, encoder, name, "children who wheeze")[0] == "0"


def test_routing_required(client: OpenSearch, encoder: Encoder, make: Any, attach: Any) -> None:
    name = make({"_routing": {"required": True}}, {"number_of_shards": 2}, routing="north")
    assert attach(name).skipped == 3
    hits = client.search(index=name, body={"query": {"exists": {"field": "trifuse_vector"}}})["hits"]["hits"]
    assert [hit["_routing"] for hit in hits] == ["north"] * 3
    assert dense_ids(client, encoder, name, "children who wheeze")[0] == "0"


@pytest.fixture
def stream(client: OpenSearch, index_name: str, docs: Any) -> Any:
    """A data stream with the documents in it."""
    name = f"{index_name}-stream"
    template = {
        "index_patterns": [name],
        "data_stream": {},
        "template": {"settings": {"knn": True, "number_of_shards": 1}},
    }
    client.indices.put_index_template(name=name, body=template)
    for doc in docs:
        client.index(index=name, body={"@timestamp": "2026-01-01", **doc}, params={"op_type": "create"})
    client.indices.refresh(index=name)
    yield name
    with contextlib.suppress(NotFoundError):
        client.indices.delete_data_stream(name=name)
    client.indices.delete_index_template(name=name)


def test_data_stream_with_rollover(
    client: OpenSearch, encoder: Encoder, stream: str, plan: Any, attach: Any
) -> None:
    assert any("again after each rollover" in found.remedy for found in plan(stream).findings)
    assert attach(stream).skipped == 3
    assert len(dense_ids(client, encoder, stream, "children who wheeze")) == 3
    client.indices.rollover(alias=stream)
    late = {"@timestamp": "2026-01-02", "title": "Gout", "body": "Uric acid in the toe."}
    client.index(index=stream, body=late, params={"op_type": "create", "refresh": "true"})
    again = plan(stream)
    assert [index.attached for index in again.indexes] == [True, False]
    assert attach(stream).skipped == 4
    assert fields_of(client, stream) == ["trifuse_vector"] * 2


def test_data_stream_is_not_copied(stream: str, refused: Any) -> None:
    assert refused(stream, copy=True) == {"name": "attach in place (no --copy)"}


def test_edited_documents_are_embedded_anew(
    client: OpenSearch, encoder: Encoder, make: Any, attach: Any, embed_pending: Any
) -> None:
    """Full overwrites by the owner drop the vector, partial updates leave a stale one."""
    name = make()
    attach(name)
    client.index(index=name, id="0", body={"title": "Gout", "body": "Uric acid."})
    client.update(index=name, id="1", body={"doc": {"title": "Malaria", "body": "Fever from mosquitoes."}})
    client.indices.refresh(index=name)
    assert embed_pending(name).pending == 0
    assert dense_ids(client, encoder, name, "tropical fever")[0] == "1"


def test_an_index_that_shows_few_hits_at_a_time(
    client: OpenSearch, make: Any, plan: Any, attach: Any, embed_pending: Any, odd: Any
) -> None:
    """Looks, syncs, lookups of moved documents and counts of failed ones ask for no more than it allows."""
    titles = ["Zero", *(f"Remedy {number}" for number in range(29))]
    name = make(settings={"max_result_window": 7}, docs=[{"title": title} for title in titles])
    odd.numbers = {"Zero": 0.0}
    apply_attach(client, plan(name, "title"))
    sync(client, name, lambda index, field, space, ids: embed(client, odd, index, field, ids) and None)
    client.indices.refresh(index=FAILED_INDEX)
    report = embed_pending(name)
    assert (report.pending, report.failed, report.skipped) == (0, 1, 29)
    client.update(index=name, id="1", body={"doc": {"title": "Gout"}})
    assert embed_pending(name).pending == 0
    places = find_places(client, name, (str(number) for number in range(40)))
    assert sorted(places) == sorted((str(number), None) for number in range(30))
    assert estimate(client, name, ["title"]).sentences == 30
