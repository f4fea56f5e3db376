"""What a plan looks at, each on an index made for it; where it is refused nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.attach import Finding
from trifuse.indexer.errors import IndexMissing

TEXTS = {"title": {"type": "text"}, "body": {"type": "text"}}


def finding(found: Any, subject: str) -> Finding:
    """The one finding on a subject."""
    (item,) = [item for item in found.findings if item.subject == subject]
    return item


def test_everything_is_fine(make: Any, plan: Any) -> None:
    found = plan(make())
    assert not found.refused
    assert finding(found, "server").text.startswith("OpenSearch 3.")
    assert finding(found, "plugin").level == "ok"
    assert finding(found, "engine").text.startswith("lucene")
    assert found.estimates.documents == 3
    assert found.estimates.sample.with_text == 3
    assert found.estimates.sample.example == "Salbutamol for asthma in children An inhaler opens the airways."


def test_no_such_name(plan: Any, index_name: str) -> None:
    with pytest.raises(IndexMissing):
        plan(index_name)


def test_knn_is_off(make: Any, refused: Any) -> None:
    remedies = refused(make(settings={"knn": False}))
    assert list(remedies) == ["k-NN"]
    assert "--exact" in remedies["k-NN"]
    assert "--copy" in remedies["k-NN"]


def test_exact_without_knn_only(make: Any, refused: Any) -> None:
    assert refused(make(), exact=True) == {"k-NN": "leave out --exact"}


def test_exact_names_its_limit(make: Any, plan: Any) -> None:
    found = plan(make(settings={"knn": False}), exact=True)
    assert not found.refused
    assert "up to 10,000" in finding(found, "k-NN").text


def test_version_bump_is_asked_for(make: Any, refused: Any, plan: Any) -> None:
    name = make()
    assert "--accept-version-bump" in refused(name, accept_version_bump=False)["versions"]
    assert "external" in finding(plan(name), "versions").text
    assert not plan(name, copy=True, accept_version_bump=False).refused
    asked = plan(name, accept_version_bump=False)  # what is still to be said keeps nobody from looking
    assert asked.estimates.sample.with_text == 3
    assert finding(asked, "encoder").text == "vectors of 384 dimensions by bge-small-en-v1.5-int8"


def test_closed(client: OpenSearch, make: Any, refused: Any) -> None:
    name = make()
    client.indices.close(index=name)
    assert refused(name) == {"state": f"open it: POST /{name}/_open"}


@pytest.mark.parametrize("block", ["read_only", "write", "read_only_allow_delete"])
def test_blocks(client: OpenSearch, make: Any, refused: Any, block: str) -> None:
    name = make()
    client.indices.put_settings(index=name, body={f"index.blocks.{block}": True})
    try:
        assert f'"index.blocks.{block}": null' in refused(name)["blocks"]
    finally:
        client.indices.put_settings(index=name, body={f"index.blocks.{block}": None})


def test_source_disabled(make: Any, refused: Any) -> None:
    name = make({"_source": {"enabled": False}, "properties": TEXTS})
    assert "_source" in refused(name)
    assert "_source" in refused(name, copy=True)


def test_source_excludes_what_is_searched(make: Any, refused: Any) -> None:
    name = make({"_source": {"excludes": ["body"]}, "properties": TEXTS})
    assert "--copy" in refused(name, "title")["_source"]
    assert "_source" in refused(name, "title", copy=True)
    assert "text" in refused(name, "body")


def test_source_excludes_what_is_not_searched(make: Any, refused: Any, plan: Any) -> None:
    properties = {"title": {"type": "text", "copy_to": "all"}, "all": {"type": "text"}}
    mappings = {"_source": {"excludes": ["raw", "all"]}, "properties": properties}
    name = make(mappings, docs=[{"title": "Gout"}])
    assert "_source" in refused(name, "title")
    assert not plan(name, "title", copy=True).refused


def test_source_includes(make: Any, refused: Any) -> None:
    name = make({"_source": {"includes": ["title"]}, "properties": TEXTS})
    assert set(refused(name, "title")) == {"_source"}
    assert set(refused(name, "body")) == {"_source", "text"}


def test_paths(make: Any, refused: Any, plan: Any) -> None:
    name = make(
        {
            "properties": {
                "title": {"type": "text", "copy_to": "all", "fields": {"keyword": {"type": "keyword"}}},
                "name": {"type": "alias", "path": "title"},
                "all": {"type": "text"},
                "arms": {"properties": {"label": {"type": "text"}}},
                "where": {"type": "geo_point"},
            }
        },
        docs=[{"title": "Gout"}],
    )
    assert plan(name, "title.keyword", "name").space.template.fields == ("title",)
    assert refused(name, "all") == {"text": "name its sources: title"}
    assert refused(name, "arms") == {"text": "name fields in it: arms.label"}
    assert refused(name, "where") == {"text": "name fields of text"}
    assert refused(name, "titel") == {"text": "is title meant?"}


def test_text_under_other_names_in_two_indexes(client: OpenSearch, make: Any, refused: Any) -> None:
    first = make({"properties": {"title": {"type": "text"}}}, docs=[{"title": "x"}], suffix="-a")
    alias = {"type": "alias", "path": "name"}
    second = make(
        {"properties": {"name": {"type": "text"}, "title": alias}}, docs=[{"name": "x"}], suffix="-b"
    )
    both = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=both)
    assert refused(both, "title") == {"text": "attach to each of them by its own name"}


def test_field_names(make: Any, refused: Any, plan: Any) -> None:
    own = {"trifuse_vector": {"type": "keyword"}, **TEXTS}
    name = make({"properties": own})
    assert plan(name).field == "trifuse_vector_2"
    assert refused(name, field="trifuse_vector") == {"names": "name another (--field)"}
    assert refused(name, field="a.b") == refused(name, field="trifuse") == {"names": "name one without dots"}
    assert plan(name, field="meaning").field == "meaning"
    marked = make({"properties": {"trifuse": {"type": "keyword"}, **TEXTS}}, suffix="-b")
    assert "names" in refused(marked)
    meant = make({"_meta": {"trifuse": "ours"}, "properties": TEXTS}, suffix="-c")
    assert "names" in refused(meant)


def test_total_fields(make: Any, refused: Any, plan: Any) -> None:
    """Two fields of the owner's, and seven more: vector, marks, record, fields, the field, space, hash."""
    assert "limits" in refused(make({"properties": TEXTS}, {"mapping.total_fields.limit": 8}, docs=[]))
    enough = make({"properties": TEXTS}, {"mapping.total_fields.limit": 9}, docs=[], suffix="-b")
    assert not plan(enough).refused


def test_disk(client: OpenSearch, make: Any, plan: Any) -> None:
    """What is free is judged by the watermarks: of a byte, then of more than any disk has."""
    index = make()
    with cluster_settings(client, watermarks("1b")):
        found = plan(index)
    assert finding(found, "disk").level == "ok", finding(found, "disk").text
    assert found.estimates.free_bytes > 2**20
    with cluster_settings(client, watermarks("1pb")):
        item = finding(plan(index), "disk")
    assert item.level == "note", item.text
    assert "low watermark" in item.text


def test_a_cluster_that_takes_no_writes(client: OpenSearch, make: Any, plan: Any) -> None:
    index = make()
    with cluster_settings(client, {"cluster.blocks.read_only": True}):
        found = plan(index)
    assert [item.subject for item in found.findings if item.level == "refused"] == ["blocks"]


def watermarks(low: str) -> dict[str, str]:
    """Settings by which so much of the disk must stay free, whatever the machine has."""
    marks = {"low": low, "high": "1b", "flood_stage": "1b"}
    return {f"cluster.routing.allocation.disk.watermark.{mark}": size for mark, size in marks.items()}


@contextmanager
def cluster_settings(client: OpenSearch, settings: Mapping[str, Any]) -> Iterator[None]:
    """Settings of the cluster while the block lasts."""
    client.cluster.put_settings(body={"transient": settings})
    try:
        yield
    finally:
        client.cluster.put_settings(body={"transient": dict.fromkeys(settings)})


def test_documents_without_text(make: Any, plan: Any) -> None:
    found = plan(make({"properties": TEXTS}, docs=[{"year": 1}]))
    assert finding(found, "sample").level == "note"


def test_bytes_per_hit(client: OpenSearch, make: Any, plan: Any, attach: Any) -> None:
    name = make()
    told = plan(name).estimates.bytes_per_hit
    excluded = plan(name).findings
    attach(name)
    whole = client.get(index=name, id="0", params={"_source_includes": "trifuse_vector"})
    size = len(str(whole["_source"]["trifuse_vector"]).replace(" ", ""))
    assert abs(size - told) < 0.1 * told
    assert any('"excludes": ["trifuse_vector", "trifuse"]' in item.remedy for item in excluded)
    body = {"_source": {"excludes": ["trifuse_vector", "trifuse"]}}
    hits = client.search(index=name, body=body)["hits"]["hits"]
    assert {key for hit in hits for key in hit["_source"]} == {"title", "body", "year"}
