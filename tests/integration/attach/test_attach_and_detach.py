"""Attach, attach again, detach: what is written, what is kept, what goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.spaces import meta_with_space
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach, detach, plan_attach
from trifuse.indexer.embedded import embedded_fields
from trifuse.indexer.errors import AttachRefused, IndexMissing, IndexNotOurs, ReembedRefused
from trifuse.indexer.meta import read_meta
from trifuse.indexer.reembed import begin
from trifuse.indexer.state import get_state
from trifuse.ranker import HybridRanker

TEXTS = {"title": {"type": "text"}, "body": {"type": "text"}}


def sources(client: OpenSearch, name: str) -> dict[str, Any]:
    """The documents, by id."""
    client.indices.refresh(index=name)
    return {hit["_id"]: hit["_source"] for hit in client.search(index=name)["hits"]["hits"]}


def test_meta_is_merged_and_restored(client: OpenSearch, make: Any, attach: Any, docs: Any) -> None:
    name = make({"_meta": {"owner": "search team", "n": [1]}})
    attach(name)
    assert read_meta(client, name)["owner"] == "search team"
    assert set(read_meta(client, name)) == {"owner", "n", "trifuse"}
    uuid = embedded_fields(client, name)[0].uuid
    kept = get_state(client, "attach", uuid)
    assert kept is not None
    assert kept["meta"] == {"owner": "search team", "n": [1]}
    # What the owner changes meanwhile stays.
    changed = {**read_meta(client, name), "owner": "another team"}
    client.indices.put_mapping(index=name, body={"_meta": changed})
    report = detach(client, name)
    assert (report.indexes, report.documents) == ((name,), 3)
    assert read_meta(client, name) == {"owner": "another team", "n": [1]}
    assert sources(client, name) == {str(number): doc for number, doc in enumerate(docs)}
    assert get_state(client, "attach", uuid) is None
    assert any("trifuse_vector" in what for what in report.stays)


def test_embedding_anew_in_place_asks_the_owner_of_an_attached_index(
    client: OpenSearch, make: Any, attach: Any
) -> None:
    name = make()
    attach(name)
    other = replace(embedded_fields(client, name)[0].space.encoder, encoder="other")
    with pytest.raises(ReembedRefused, match="--accept-version-bump"):
        begin(client, name, other)
    assert begin(client, name, other, accept_version_bump=True) == "begin"


def test_without_meta_before(client: OpenSearch, make: Any, attach: Any) -> None:
    name = make()
    attach(name)
    detach(client, name)
    assert read_meta(client, name) == {}
    with pytest.raises(IndexNotOurs):
        detach(client, name)


def test_again_goes_on(client: OpenSearch, make: Any, plan: Any, attach: Any) -> None:
    name = make()
    attach(name)
    again = plan(name, accept_version_bump=False)
    assert again.attached
    assert not again.refused
    before = client.indices.get_mapping(index=name)
    apply_attach(client, again)
    assert client.indices.get_mapping(index=name) == before


def test_again_with_others(
    client: OpenSearch, encoder: Encoder, make: Any, attach: Any, refused: Any
) -> None:
    name = make()
    attach(name)
    (remedy,) = refused(
        name, "title", accept_version_bump=False
    ).values()  # what else there is doesn't matter
    assert remedy == (
        f"trifuse reembed {name}, with --text and --encoder; or detach first: trifuse detach {name}"
    )
    assert refused(name, field="another") == {"attached": "leave out --field"}
    other = replace(encoder.space, encoder="another", revision="r2")
    found = plan_attach(client, name, ["title", "body"], other, accept_version_bump=True)
    (item,) = [item for item in found.findings if item.level == "refused"]
    assert "trifuse reembed" in item.remedy


def test_detach_is_taken_up_again(client: OpenSearch, make: Any, attach: Any, docs: Any) -> None:
    """Interrupted after `_meta` was cleaned: the marks still tell what is to be taken out."""
    name = make()
    attach(name)
    client.indices.put_mapping(index=name, body={"_meta": {}})
    assert detach(client, name).documents == 3
    assert sources(client, name) == {str(number): doc for number, doc in enumerate(docs)}


def test_attach_after_detach_takes_a_new_field(client: OpenSearch, make: Any, attach: Any) -> None:
    name = make()
    attach(name)
    detach(client, name)
    assert attach(name, "title").skipped == 3
    assert [found.field for found in embedded_fields(client, name)] == ["trifuse_vector_2"]


def test_detach_keeps_routing(client: OpenSearch, make: Any, attach: Any, docs: Any) -> None:
    name = make({"_routing": {"required": True}}, {"number_of_shards": 2}, routing="north")
    attach(name)
    assert detach(client, name).documents == 3
    assert client.get(index=name, id="1", params={"routing": "north"})["_source"] == docs[1]


def test_exact(client: OpenSearch, encoder: Encoder, make: Any, attach: Any, docs: Any) -> None:
    name = make(settings={"knn": False})
    assert attach(name, exact=True).skipped == 3
    field = client.indices.get_mapping(index=name)[name]["mappings"]["properties"]["trifuse_vector"]
    assert "method" not in field
    body = {"query": {"match": {"title": "nothingmatchesthis"}}}
    answer = HybridRanker(client, encoder).search(name, body, text="children who wheeze")
    assert answer["hits"]["hits"][0]["_id"] == "0"
    assert client.count(index=name, body={"query": {"exists": {"field": "trifuse_vector"}}})["count"] == 3
    assert detach(client, name).documents == 3
    assert sources(client, name) == {str(number): doc for number, doc in enumerate(docs)}


def test_server_refuses_the_second(client: OpenSearch, make: Any, plan: Any, docs: Any) -> None:
    """What the look didn't see: the first index is as it was, but for its mapping."""
    first, second = make(docs=docs[:1], suffix="-a"), make(docs=docs[1:], suffix="-b")
    both = first.removesuffix("-a") + "-both"
    for index in (first, second):
        client.indices.put_alias(index=index, name=both)
    found = plan(both)
    client.indices.put_mapping(index=second, body={"properties": {found.field: {"type": "keyword"}}})
    with pytest.raises(AttachRefused, match=second):
        apply_attach(client, found)
    assert read_meta(client, first) == read_meta(client, second) == {}


def test_owner_replaces_meta_at_the_same_time(
    client: OpenSearch, make: Any, plan: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner's `_meta`, put right after ours, stays and gets the space again."""
    name = make({"_meta": {"owner": "a"}})
    found = plan(name)
    put = client.indices.put_mapping
    theirs = [{"owner": "b"}]

    def put_then_theirs(**given: Any) -> Any:
        answer = put(**given)
        if theirs:
            put(index=name, body={"_meta": theirs.pop()})
        return answer

    monkeypatch.setattr(client.indices, "put_mapping", put_then_theirs)
    apply_attach(client, found)
    assert read_meta(client, name) == meta_with_space({"owner": "b"}, found.field, found.space)


def test_nothing_by_that_name(client: OpenSearch, index_name: str) -> None:
    with pytest.raises(IndexMissing):
        detach(client, index_name)
