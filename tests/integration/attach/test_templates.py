"""A template of the owner's that fits the names of the indexes that attaching makes beside the owner's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import complete
from trifuse.indexer.sentences import attach_sentences
from trifuse.worker.embedding import embed

TITLE = {"title": {"type": "text"}}


@pytest.fixture
def template(client: OpenSearch, index_name: str) -> Iterator[Callable[..., None]]:
    """Puts a template for every index whose name starts as the owner's does, and a pipeline for them."""

    def put(mappings: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        body = {"index_patterns": [f"{index_name}*"], "priority": 7}
        client.indices.put_index_template(
            name=index_name, body={**body, "template": {"mappings": mappings, "settings": settings}}
        )

    client.ingest.put_pipeline(
        id=index_name, body={"processors": [{"set": {"field": "seen", "value": True}}]}
    )
    yield put
    client.indices.delete_index_template(name=index_name)
    for index in client.indices.get(index=f"{index_name}*"):
        client.indices.delete(index=index)
    client.ingest.delete_pipeline(id=index_name)


def test_a_copy_keeps_its_vectors_in_source(
    client: OpenSearch, encoder: Encoder, make: Any, plan: Any, template: Any
) -> None:
    """The filter of `_source` would take them out, and with the next partial update lose them."""
    template({"_source": {"includes": ["title"]}, "properties": TITLE}, {})
    name = make(docs=[{"title": "Gout"}])
    found = plan(name, "title", copy=True)
    copy = begin(client, name, alias=found.alias, space_field=(found.field, found.space))
    done = complete(
        client, copy, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None
    )
    assert (done.switched, done.failed) == (True, 0)
    assert set(client.get(index=f"{name}-dense", id="0")["_source"]) == {"title", "trifuse_vector", "trifuse"}


def test_sentences_go_by_their_own_mapping(
    client: OpenSearch,
    encoder: Encoder,
    make: Any,
    plan: Any,
    embed_pending: Any,
    template: Any,
    index_name: str,
) -> None:
    """Not by the routing that the owner requires, nor by the pipelines."""
    pipelines = dict.fromkeys(("default_pipeline", "final_pipeline"), index_name)
    template({"_routing": {"required": True}, "properties": TITLE}, pipelines)
    name = make(docs=[{"title": "Gout hurts. Rest helps."}], routing="north")
    apply_attach(client, plan(name, "title"))
    (sentences,) = attach_sentences(client, name, text=["title"], encoder=encoder.space)
    assert embed_pending(name).skipped == 3
    client.indices.refresh(index=sentences)
    hits = client.search(index=sentences)["hits"]["hits"]
    assert {hit["_source"]["text"] for hit in hits} == {"Gout hurts.", "Rest helps."}
    assert all("trifuse_vector" in hit["_source"] and "seen" not in hit["_source"] for hit in hits)
