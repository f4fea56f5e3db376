"""A copy is filled and kept in step, whatever the owner does meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import mark
from trifuse.encoder.spaces import Space
from trifuse.indexer.copying import Copy, begin, catch_up, copies_of, faults_of, fill, raw
from trifuse.indexer.errors import CopyRefused, IndexMissing, ServerUnavailable
from trifuse.indexer.progress import Step

Read = Callable[[str], dict[tuple[str, str | None], dict[str, Any]]]


def test_first_pass_copies_all_and_second_writes_nothing(
    client: OpenSearch, begun: Copy, snapshot: Read
) -> None:
    """Twenty documents; then none."""
    steps: list[tuple[int, int]] = []
    first = catch_up(client, begun, progress=lambda step: steps.append((step.done, step.total)))
    assert (first.written, first.unchanged, first.deleted, first.lag) == (20, 0, 0, 0)
    assert steps[-1] == (20, 20)
    assert snapshot(begun.index) == snapshot(begun.source)
    second = catch_up(client, begun)
    assert (second.written, second.unchanged, second.deleted, second.lag) == (0, 0, 0, 0)


def test_begin_takes_up_what_was_begun(client: OpenSearch, begun: Copy, live: str, space: Space) -> None:
    """The same copy is found by its alias, its source and by beginning again."""
    taken = begin(client, live, alias=live, space_field=("trifuse_vector", space))
    assert taken == begun
    assert copies_of(client, live) == [begun]
    assert copies_of(client, begun.source) == [begun]


def test_edits_deletions_and_recreated_documents(client: OpenSearch, begun: Copy, snapshot: Read) -> None:
    """Overwrite, partial update, delete, delete and recreate, add: all in the copy after a pass."""
    catch_up(client, begun)
    name = begun.source
    client.index(index=name, id="1", body={"title": "overwritten"})
    client.update(index=name, id="2", body={"doc": {"extra": True}})
    client.delete(index=name, id="3")
    client.delete(index=name, id="4")
    client.index(index=name, id="4", body={"title": "recreated"})
    client.index(index=name, id="new", body={"title": "added"})
    caught = catch_up(client, begun)
    assert (caught.written, caught.deleted) == (4, 1)
    assert snapshot(begun.index) == snapshot(name)


def test_a_vector_stays_through_an_edit_and_goes_with_its_document(
    client: OpenSearch, begun: Copy, space: Space
) -> None:
    """The copy's vector and its mark survive a new version; the mark tells of which text it is."""
    catch_up(client, begun)
    vector = {"trifuse_vector": [1.0, 0.0, 0.0, 0.0], **mark("trifuse_vector", space.id, "h")}
    client.update(index=begun.index, id="1", body={"doc": vector})
    client.index(index=begun.source, id="1", body={"title": "title 1", "n": 100})
    assert catch_up(client, begun).written == 1
    found = client.get(index=begun.index, id="1")["_source"]
    assert found["n"] == 100
    assert found["trifuse_vector"] == [1.0, 0.0, 0.0, 0.0]
    assert found["trifuse"]["fields"]["trifuse_vector"] == {"space": space.id, "hash": "h"}


def test_values_arrive_as_they_are(client: OpenSearch, begun: Copy) -> None:
    """Integers over 64 bits, long decimals, dotted keys, order of keys, breaks of lines."""
    client.indices.put_mapping(
        index=begun.source, body={"properties": {"raw": {"type": "object", "enabled": False}}}
    )
    body = (
        b'{"z": 1,\n "a.b": 2, "title": "x\\ny", "raw": {"big": 123456789012345678901234567890, "d": 1.10}}'
    )
    client.transport.perform_request(
        "PUT", f"/{begun.source}/_doc/raw", body=body, headers={"content-type": "application/json"}
    )
    catch_up(client, begun)
    connection = client.transport.get_connection()
    _, _, text = connection.perform_request("GET", f"/{begun.index}/_doc/raw")
    assert '"big":123456789012345678901234567890' in text.replace(" ", "")
    found = client.get(index=begun.index, id="raw")["_source"]
    assert list(found)[:4] == ["z", "a.b", "title", "raw"]
    assert found["title"] == "x\ny"
    assert json.loads(body)["raw"] == found["raw"]


def test_routing_and_children_are_kept(
    client: OpenSearch, index_name: str, space: Space, snapshot: Read
) -> None:
    """An index with required routing and a join field; two documents of one id in two shards."""
    name = f"{index_name}-joined"
    properties = {"title": {"type": "text"}, "kind": {"type": "join", "relations": {"question": "answer"}}}
    client.indices.create(
        index=name,
        body={
            "settings": {"number_of_shards": 3, "number_of_replicas": 0},
            "mappings": {"_routing": {"required": True}, "dynamic": "strict", "properties": properties},
        },
    )
    client.index(index=name, id="q", routing="q", body={"title": "parent", "kind": "question"})
    for number in range(8):
        answer = {"title": f"answer {number}", "kind": {"name": "answer", "parent": "q"}}
        client.index(index=name, id=f"a{number}", routing="q", body=answer)
        client.index(index=name, id="same", routing=f"r{number}", body={"title": f"same {number}"})
    copy = begin(client, name, alias=f"{name}-dense", space_field=("trifuse_vector", space))
    catch_up(client, copy)
    assert snapshot(copy.index) == snapshot(name)
    client.delete(index=name, id="a1", routing="q")
    assert catch_up(client, copy).deleted == 1
    assert snapshot(copy.index) == snapshot(name)


def test_a_mapping_that_the_copy_cant_have(client: OpenSearch, begun: Copy) -> None:
    """A field that somebody gave another type in the copy."""
    client.indices.put_mapping(index=begun.index, body={"properties": {"odd": {"type": "integer"}}})
    client.index(index=begun.source, id="odd", body={"title": "x", "odd": "text"})
    with pytest.raises(CopyRefused, match="can't have the mapping"):
        catch_up(client, begun)


def test_what_is_gone_is_said(client: OpenSearch, begun: Copy, live: str, space: Space) -> None:
    """The copy deleted; then the source deleted and made again under its name."""
    catch_up(client, begun)
    client.indices.delete(index=begun.index)
    client.index(index=begun.source, id="x", body={"title": "x"})
    with pytest.raises(IndexMissing, match="deleted"):
        catch_up(client, begun)
    anew = begin(client, live, alias=live, space_field=("trifuse_vector", space))
    assert catch_up(client, anew).written == 21
    client.indices.delete(index=anew.source)
    with pytest.raises(IndexMissing, match="deleted"):
        catch_up(client, anew)
    client.indices.create(index=anew.source)
    with pytest.raises(CopyRefused, match="another than the one"):
        catch_up(client, anew)


def test_refused_documents_are_named_and_read_again(
    client: OpenSearch, index_name: str, space: Space, snapshot: Read
) -> None:
    """Two that the copy doesn't take: the rest goes on; one is corrected, one deleted."""
    name = f"{index_name}-plain"
    client.indices.create(
        index=name, body={"mappings": {"dynamic": False, "properties": {"title": {"type": "text"}}}}
    )
    copy = begin(client, name, alias=f"{name}-dense", space_field=("trifuse_vector", space))
    client.indices.put_mapping(index=copy.index, body={"properties": {"odd": {"type": "integer"}}})
    for doc_id, odd in (("1", 1), ("2", "two"), ("3", "three")):
        client.index(index=name, id=doc_id, body={"title": doc_id, "odd": odd})
    assert catch_up(client, copy).written == 1
    named = faults_of(client, copy)[0]
    assert named.startswith("2 documents aren't taken by the copy ('2': mapper_parsing_exception")
    client.index(index=name, id="2", body={"title": "2", "odd": 2})
    client.delete(index=name, id="3")
    catch_up(client, copy)
    assert not any("aren't taken" in fault for fault in faults_of(client, copy))
    assert snapshot(copy.index) == snapshot(name)


def test_pipelines_dont_run_again(client: OpenSearch, index_name: str, space: Space, snapshot: Read) -> None:
    """Copied documents went through them; the copy gets them with the switch."""
    name, pipeline = f"{index_name}-piped", f"{index_name}-pipe"
    processors = [{"set": {"field": "runs", "value": "{{runs}}x"}}]
    client.ingest.put_pipeline(id=pipeline, body={"processors": processors})
    settings = {"default_pipeline": pipeline, "final_pipeline": pipeline}
    client.indices.create(index=name, body={"settings": settings})
    try:
        client.index(index=name, id="1", body={"runs": ""})
        copy = begin(client, name, alias=f"{name}-dense", space_field=("trifuse_vector", space))
        catch_up(client, copy)
        assert snapshot(copy.index) == snapshot(name) == {("1", None): {"runs": "xx"}}
    finally:
        client.indices.delete(index=f"{name}*")
        client.ingest.delete_pipeline(id=pipeline)


def test_documents_that_are_far_apart_in_the_history(client: OpenSearch, begun: Copy, snapshot: Read) -> None:
    """Most numbers belong to writes that were written over: none of the rest is passed over."""
    for _ in range(3):
        edits = [
            line for n in range(700) for line in ({"index": {"_id": str(n % 2)}}, {"title": f"edit {n}"})
        ]
        client.bulk(index=begun.source, body=edits)
        client.index(index=begun.source, id="between", body={"title": "between"})
    assert catch_up(client, begun).written == 21
    assert snapshot(begun.index) == snapshot(begun.source)


def test_pages_that_the_server_cant_answer_are_asked_for_in_smaller_ones(
    client: OpenSearch, begun: Copy, snapshot: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It breaks off over three documents, as it does where these fill its memory."""
    post, asked = raw._post, []

    def breaking(client: Any, url: str, body: Any, *given: Any) -> bytes:
        asked.append(body.get("size", 0))
        if asked[-1] > 3:
            raise ServerUnavailable
        return post(client, url, body, *given)

    monkeypatch.setattr(raw, "_post", breaking)
    assert catch_up(client, begun).written == 20
    assert 10 in asked
    assert snapshot(begun.index) == snapshot(begun.source)


def test_an_interrupted_pass_goes_on(
    client: OpenSearch, begun: Copy, snapshot: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended after some documents of one shard; the next pass has them all in the end, and deletions too."""
    monkeypatch.setattr(fill, "_BATCH", 1)

    def ending(step: Step) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        catch_up(client, begun, progress=ending)
    first = next(iter(snapshot(begun.index)))[0]
    client.delete(index=begun.source, id=first)
    assert catch_up(client, begun).deleted == 1
    assert snapshot(begun.index) == snapshot(begun.source)
