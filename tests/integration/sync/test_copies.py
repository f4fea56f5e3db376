"""An unfinished copy is kept in step, and embedded, by whoever looks after its source."""

from __future__ import annotations

from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.copying import Copy, begin
from trifuse.indexer.follow import Patience
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.watch import watch
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=1.0, stall_s=5.0, silence_s=2.0, poll_s=0.05)


@pytest.fixture
def copy(own: Any, client: OpenSearch, index_name: str, encoder: Any, postbox: Any) -> Copy:
    """A copy that was begun, of an index without vectors; behind an alias."""
    source, alias = own(f"{index_name}-source"), f"{index_name}-alias"
    client.indices.put_alias(index=source.name, name=alias)
    postbox.deliver = lambda index, field, ids: embed(client, encoder, index, field, ids)
    space = Space(encoder.space, TextTemplate(("title",)))
    return begin(client, source.name, alias=alias, space_field=(VECTOR_FIELD, space))


def _titles(client: OpenSearch, copy: Copy) -> dict[str, str]:
    """What the copy's documents with a vector are called, by id."""
    client.indices.refresh(index=copy.index)
    body = {"query": {"exists": {"field": copy.field}}, "_source": ["title"]}
    hits = client.search(index=copy.index, body=body)["hits"]["hits"]
    return {hit["_id"]: hit["_source"]["title"] for hit in hits}


def test_sync_of_the_source_fills_the_copy_and_has_it_embedded(
    copy: Copy, client: OpenSearch, postbox: Any
) -> None:
    report = sync(client, copy.alias, postbox, wait=True, patience=QUICK)
    assert report == SyncReport(pending=0, embedded=1, skipped=0, failed=0)
    assert _titles(client, copy) == {"0": "The first edition"}


def test_watching_the_source_keeps_the_copy_in_step(
    copy: Copy, client: OpenSearch, postbox: Any, in_thread: Any, until: Any
) -> None:
    in_thread(
        lambda stop: watch(client, copy.alias, postbox, stop=stop, patience=QUICK, interval_s=0.2),
    )
    until(lambda: _titles(client, copy) == {"0": "The first edition"})
    client.index(index=copy.source, id="1", body={"title": "The harbour"})
    client.update(index=copy.source, id="0", body={"doc": {"title": "The second edition"}})
    until(lambda: _titles(client, copy) == {"0": "The second edition", "1": "The harbour"})
    client.delete(index=copy.source, id="1")
    until(lambda: _titles(client, copy) == {"0": "The second edition"})
