"""The case from the field about a document that fits into no request (B5), where its index is attached to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.indexer.attach import apply_attach, plan_attach
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import CopyReport, complete
from trifuse.indexer.follow import Patience
from trifuse.indexer.retry import Retry, retrying
from trifuse.indexer.sync import SyncReport, sync
from trifuse.worker.embedding import embed

QUICK = Patience(lease_s=0.5, stall_s=2.0, silence_s=5.0, poll_s=0.05)
FIELD = "trifuse_vector"
LIMIT = 10 * 2**20
"""What the services of the tests take in a request."""

PART = 3_000_000


@pytest.fixture
def small_limit(own_services: Any) -> Iterator[OpenSearch]:
    """A client of an OpenSearch that takes 10 MB in a request."""
    made = OpenSearch(own_services.opensearch_url, timeout=60)
    yield made
    made.close()


def _with_a_large_one(client: OpenSearch, name: str, *, knn: bool) -> None:
    """300 ordinary documents, and one of 12 MB that its owner has put together from parts."""
    raw = {"type": "object", "enabled": False}
    mappings = {"properties": {"title": {"type": "text"}, "raw": raw}}
    client.indices.create(
        index=name, body={"settings": {"index.knn": knn, "number_of_replicas": 0}, "mappings": mappings}
    )
    lines: list[dict[str, Any]] = []
    for number in range(301):
        lines += [{"index": {"_id": str(number)}}, {"title": "A volume"}]
    client.bulk(index=name, body=lines, refresh=True)
    for number in range(4):
        part = {"doc": {"raw": {f"part {number}": "x" * PART}}}
        retrying(partial(client.update, index=name, id="150", body=part), what="a part", retry=Retry())


def test_b5_a_large_document_in_place(small_limit: OpenSearch, odd: Any, index_name: str) -> None:
    """A vector is written as a part: the whole document never travels."""
    client = small_limit
    _with_a_large_one(client, index_name, knn=True)
    found = plan_attach(client, index_name, ["title"], odd.space, accept_version_bump=True)
    apply_attach(client, found)
    report = sync(
        client,
        index_name,
        lambda index, field, space, ids: embed(client, odd, index, field, ids) and None,
        wait=True,
        patience=QUICK,
    )
    assert report == SyncReport(pending=0, embedded=301, skipped=0, failed=0)
    large = client.get(index=index_name, id="150")["_source"]
    assert len(large[FIELD]) == 384
    assert [len(part) for part in large["raw"].values()] == [PART] * 4


def test_b5_a_large_document_by_a_copy(small_limit: OpenSearch, odd: Any, index_name: str) -> None:
    """It must travel whole, and doesn't fit: it is named, with its size and the limit; the rest is there."""
    client = small_limit
    _with_a_large_one(client, index_name, knn=False)

    def attach() -> CopyReport:
        found = plan_attach(client, index_name, ["title"], odd.space, copy=True)
        assert found.alias is not None
        copy = begin(client, index_name, alias=found.alias, space_field=(found.field, found.space))
        return complete(
            client,
            copy,
            lambda index, field, space, ids: embed(client, odd, index, field, ids) and None,
            patience=QUICK,
        )

    done = attach()
    assert (done.copied, done.embedded, done.failed, done.switched) == (300, 300, 0, False)
    (fault,) = done.faults
    assert "1 documents aren't taken by the copy ('150': too_large" in fault
    assert "takes 12000" in fault
    assert f"{LIMIT} bytes (http.max_content_length)" in fault
    client.index(index=index_name, id="150", body={"title": "A volume", "raw": {"part 0": "x"}})
    done = attach()
    assert (done.copied, done.embedded, done.switched, done.faults) == (1, 1, True, ())
