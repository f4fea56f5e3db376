"""Documents that are larger than a request may be, and pages of many large ones."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.config import opensearch_client, resolve
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.indexer.copying import Copy, begin, catch_up, complete, raw
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.reading import PAGE_BYTES

BULK = importlib.import_module("trifuse.indexer.bulk")
QUICK = Patience(poll_s=0.05, longest_poll_s=0.1)
LIMIT = 10 * 2**20
MIB = 2**20


@pytest.fixture(scope="module")
def client(own_services: Any) -> Iterator[OpenSearch]:
    """A client of a server that takes 10 MB in a request, in the place of the shared one."""
    services = resolve(opensearch=own_services.opensearch_url, redis=own_services.redis_url)
    made = opensearch_client(services)
    yield made
    made.close()


@pytest.fixture
def begun(client: OpenSearch, index_name: str, space: Space) -> Iterator[Copy]:
    """A copy of an index whose only searched field is the title, of thirty documents."""
    name = f"{index_name}-v1"
    mappings = {"dynamic": False, "properties": {"title": {"type": "text"}}}
    settings = {"number_of_shards": 1, "number_of_replicas": 0}
    client.indices.create(index=name, body={"settings": settings, "mappings": mappings})
    for number in range(30):
        client.index(index=name, id=str(number), body={"title": f"title {number}"})
    yield begin(client, name, alias=f"{index_name}-live", space_field=(VECTOR_FIELD, space))


def test_a_document_over_the_limit_is_named_and_keeps_the_copy_from_being_switched(
    client: OpenSearch, begun: Copy, enqueue: Enqueue
) -> None:
    """25 MB, written in parts, where a request may have 10: the rest is copied; shortened, all is well."""
    for part in "abc":
        client.update(index=begun.source, id="7", body={"doc": {part: part * 8_500_000}})
    report = complete(client, begun, enqueue, patience=QUICK)
    assert (report.copied, report.embedded, report.switched) == (29, 29, False)
    (fault,) = report.faults
    assert "1 documents aren't taken by the copy ('7': too_large" in fault
    assert "takes 2550" in fault
    assert (
        f"OpenSearch takes {LIMIT} bytes (http.max_content_length); shorten it, or raise the limit" in fault
    )
    assert not client.indices.exists_alias(name=begun.alias)
    client.index(index=begun.source, id="7", body={"title": "short"})
    report = complete(client, begun, enqueue, patience=QUICK)
    assert (report.copied, report.embedded, report.switched, report.faults) == (1, 1, True, ())
    assert client.get(index=begun.alias, id="7")["_source"]["title"] == "short"


def test_a_document_that_just_fits_is_copied_alone(client: OpenSearch, begun: Copy) -> None:
    """9.9 MB, which is more than a bulk request has otherwise."""
    client.update(index=begun.source, id="7", body={"doc": {"long": "x" * 9_900_000}})
    assert catch_up(client, begun).written == 30
    assert len(client.get(index=begun.index, id="7")["_source"]["long"]) == 9_900_000


def test_many_large_documents_are_read_and_written_by_bytes(
    client: OpenSearch, begun: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty of 2 MB after thirty small ones: one page is larger than it should be: none was seen before."""
    for number in range(40):
        client.index(index=begun.source, id=f"large {number}", body={"title": "a", "long": "x" * 2 * MIB})
    answers: list[int] = []
    requests: list[int] = []
    post, send = raw._post, BULK._Sender._post

    def reading(*given: Any) -> bytes:
        answers.append(len(answer := post(*given)))
        return answer

    def sending(self: Any, chunk: Any, attempt: int) -> Any:
        requests.append(sum(len(line.data) for line in chunk))
        return send(self, chunk, attempt)

    monkeypatch.setattr(raw, "_post", reading)
    monkeypatch.setattr(BULK._Sender, "_post", sending)
    assert catch_up(client, begun).written == 70
    # Pages of 10 and 20 small ones; then 40 are asked for, of which all are large, and from there on 4 MiB.
    assert sum(answer > PAGE_BYTES + MIB for answer in answers) <= 1
    assert max(requests) <= BULK.MAX_BYTES
    assert client.get(index=begun.index, id="large 39")["_source"]["long"] == "x" * 2 * MIB
