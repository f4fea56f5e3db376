"""A source that was put back from a snapshot: its numbers no longer mean what they did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.deploy.config import opensearch_client, resolve
from trifuse.encoder.marks import VECTOR_FIELD, mark
from trifuse.encoder.spaces import Space
from trifuse.indexer.copying import Copy, catch_up, faults_of
from trifuse.indexer.copying.raw import RawHit, raw_pages
from trifuse.indexer.copying.writing import write_page
from trifuse.indexer.cursors import Shard, read_shards

Read = Callable[[str], dict[tuple[str, str | None], dict[str, Any]]]


@pytest.fixture(scope="module")
def client(own_services: Any) -> Iterator[OpenSearch]:
    """A client of a server that can keep snapshots, in the place of the shared one."""
    services = resolve(opensearch=own_services.opensearch_url, redis=own_services.redis_url)
    made = opensearch_client(services)
    yield made
    made.close()


@pytest.fixture
def restore(client: OpenSearch, source: str) -> Iterator[Callable[[], None]]:
    """Takes a snapshot of the source now, and puts it back, over the index, when it is called."""
    repository = f"{source}-snapshots"
    client.snapshot.create_repository(
        repository=repository, body={"type": "fs", "settings": {"location": repository}}
    )
    waiting = {"wait_for_completion": "true"}
    body = {"indices": source, "include_global_state": False}
    client.snapshot.create(repository=repository, snapshot="one", body=body, params=waiting)

    def put_back() -> None:
        client.indices.close(index=source)
        client.snapshot.restore(
            repository=repository, snapshot="one", body={**body, "include_aliases": False}, params=waiting
        )

    yield put_back
    client.snapshot.delete(repository=repository, snapshot="one")
    client.snapshot.delete_repository(repository=repository)


def _changed(client: OpenSearch, source: str) -> None:
    """What the owner does after the snapshot: edits, adds and deletes."""
    client.index(index=source, id="1", body={"title": "edited"})
    client.index(index=source, id="later", body={"title": "added"})
    client.delete(index=source, id="5")


def _all(client: OpenSearch, source: str) -> list[tuple[Shard, list[RawHit]]]:
    client.indices.refresh(index=source)
    return [
        (shard, [hit for page in raw_pages(client, source, shard) for hit in page])
        for shard in read_shards(client, source)
    ]


def test_everything_is_read_anew(
    client: OpenSearch, begun: Copy, space: Space, snapshot: Read, restore: Callable[[], None]
) -> None:
    """What came after the snapshot is gone from the copy too; vectors of the same texts stay."""
    before = snapshot(begun.source)
    _changed(client, begun.source)
    catch_up(client, begun)
    vector = {VECTOR_FIELD: [1.0, 0.0, 0.0, 0.0], **mark(VECTOR_FIELD, space.id, "h")}
    client.update(index=begun.index, id="2", body={"doc": vector})
    restore()
    assert any("isn't copied to the end" in fault for fault in faults_of(client, begun))
    caught = catch_up(client, begun)
    assert (caught.written, caught.deleted) == (20, 1)
    assert snapshot(begun.source) == snapshot(begun.index) == before
    assert client.get(index=begun.index, id="2")["_source"][VECTOR_FIELD] == [1.0, 0.0, 0.0, 0.0]
    assert catch_up(client, begun).written == 0
    _changed(client, begun.source)
    assert catch_up(client, begun).written == 2
    assert snapshot(begun.source) == snapshot(begun.index)


def test_a_process_that_read_before_writes_nothing_after(
    client: OpenSearch, begun: Copy, snapshot: Read, restore: Callable[[], None]
) -> None:
    """It read all with the owner's edits, and slept; another process has copied what was put back."""
    catch_up(client, begun)
    _changed(client, begun.source)
    read = _all(client, begun.source)
    restore()
    catch_up(client, begun)
    for shard, hits in read:
        present = [hit for hit in hits if hit.id != "later"]
        wrote = write_page(client, begun, shard, present, era=0, fresh=False)
        assert (wrote.written, wrote.unchanged) == (0, len(present))
    assert snapshot(begun.source) == snapshot(begun.index)
