"""An index embedded anew in place: a second field, the switch, and the ways back."""

from __future__ import annotations

from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, serving_field, spaces_in_meta
from trifuse.indexer.errors import IndexNotOurs, ReembedRefused
from trifuse.indexer.reembed import abandon, begin, fill, finish, roll_back, stage_of, switch
from trifuse.indexer.state import delete_state, put_state
from trifuse.indexer.sync import sync

SECOND = "trifuse_vector_2"
OLD = EncoderSpace("test-old", "1", "fp32", "cls", 4, True, "cosine")
NEW = EncoderSpace("test-new", "1", "fp32", "cls", 8, True, "cosine")


def _meta(client: OpenSearch, index: str) -> dict[str, Any]:
    found: dict[str, Any] = client.indices.get_mapping(index=index)[index]["mappings"]["_meta"]
    return found


def _source(client: OpenSearch, index: str, doc_id: str) -> dict[str, Any]:
    found: dict[str, Any] = client.get(index=index, id=doc_id)["_source"]
    return found


def _serving(client: OpenSearch, index: str) -> str | None:
    return serving_field(_meta(client, index))


def test_queries_keep_the_old_field_until_the_switch_and_one_step_leads_back(
    client: OpenSearch, titles: str, workers: Any
) -> None:
    assert begin(client, titles, NEW) == "begin"
    assert _serving(client, titles) == VECTOR_FIELD
    assert {field: space.encoder for field, space in spaces_in_meta(_meta(client, titles)).items()} == {
        VECTOR_FIELD: OLD,
        SECOND: NEW,
    }
    filled = fill(client, titles, workers)
    assert (filled.pending, filled.embedded, filled.skipped, filled.failed) == (0, 3, 1, 0)
    source = _source(client, titles, "1")
    assert source[VECTOR_FIELD] == pytest.approx(workers.old.vector("The harbour"))
    assert source[SECOND] == pytest.approx(workers.new.vector("The harbour"))
    assert _serving(client, titles) == VECTOR_FIELD

    switch(client, titles, workers)
    assert _serving(client, titles) == SECOND
    switch(client, titles, workers)  # again: nothing changes
    roll_back(client, titles)
    assert _serving(client, titles) == VECTOR_FIELD
    switch(client, titles, workers)
    assert finish(client, titles) == 3  # the fourth has no text, and had no vector
    assert spaces_in_meta(_meta(client, titles)).keys() == {SECOND}
    source = _source(client, titles, "1")
    assert set(source) == {"title", "pages", SECOND, "trifuse"}
    assert set(source["trifuse"]["fields"]) == {SECOND}
    assert stage_of(client, titles).step == "none"


def test_edits_meanwhile_end_with_the_vector_of_the_newest_text_in_both_fields(
    client: OpenSearch, titles: str, workers: Any
) -> None:
    begin(client, titles, NEW)
    edits = iter([{"title": "The pier"}])

    def edit() -> None:
        if change := next(edits, None):
            client.update(index=titles, id="0", body={"doc": change})

    workers.before = edit
    fill(client, titles, workers)
    client.index(index=titles, id="1", body={"title": "The mole"})  # drops marks and vectors
    client.update(index=titles, id="2", body={"doc": {"title": "The dock"}})  # leaves stale ones
    with pytest.raises(ReembedRefused, match=r"2 documents of .* wait for their vector of 'test-new'"):
        switch(client, titles, workers)
    fill(client, titles, workers)
    switch(client, titles, workers)
    sync(client, titles, workers, wait=True)
    for doc_id, title in {"0": "The pier", "1": "The mole", "2": "The dock"}.items():
        source = _source(client, titles, doc_id)
        assert source[VECTOR_FIELD] == pytest.approx(workers.old.vector(title))
        assert source[SECOND] == pytest.approx(workers.new.vector(title))


def test_abandoning_leaves_the_old_field_and_a_new_try_takes_another_one(
    client: OpenSearch, titles: str, workers: Any
) -> None:
    before = _source(client, titles, "0")
    begin(client, titles, NEW)
    fill(client, titles, workers)
    assert abandon(client, titles) == 3
    assert _source(client, titles, "0") == before
    assert spaces_in_meta(_meta(client, titles)).keys() == {VECTOR_FIELD}
    with pytest.raises(ReembedRefused, match="nothing is under way"):
        abandon(client, titles)
    assert begin(client, titles, NEW) == "begin"
    assert spaces_in_meta(_meta(client, titles)).keys() == {VECTOR_FIELD, "trifuse_vector_3"}


def test_interrupted_steps_go_on(client: OpenSearch, titles: str, workers: Any) -> None:
    begin(client, titles, NEW)

    def break_off() -> None:
        raise KeyboardInterrupt

    workers.before = break_off
    with pytest.raises(KeyboardInterrupt):
        fill(client, titles, workers)
    workers.before = lambda: None
    assert begin(client, titles, NEW) == "resume"
    assert fill(client, titles, workers).embedded == 3

    def kill(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        abandon(client, titles, progress=kill)
    assert stage_of(client, titles).step == "dropping"
    assert _serving(client, titles) == VECTOR_FIELD
    abandon(client, titles)
    assert stage_of(client, titles).step == "none"


def test_another_encoder_meanwhile_is_refused_with_what_to_do(client: OpenSearch, titles: str) -> None:
    begin(client, titles, NEW)
    third = EncoderSpace("test-third", "1", "fp32", "cls", 4, True, "cosine")
    with pytest.raises(ReembedRefused, match=r"--encoder test-new`, or drop that .*--abandon"):
        begin(client, titles, third)
    with pytest.raises(ReembedRefused, match="weren't switched"):
        roll_back(client, titles)
    with pytest.raises(ReembedRefused, match="--finish"):
        finish(client, titles)


def test_failed_documents_are_named_and_dont_keep_from_the_switch(
    client: OpenSearch, titles: str, workers: Any
) -> None:
    begin(client, titles, NEW)
    workers.new.rejects["The quay"] = "too odd"
    filled = fill(client, titles, workers)
    assert (filled.pending, filled.embedded, filled.skipped, filled.failed) == (0, 2, 1, 1)
    switched = switch(client, titles, workers)
    assert switched.failed == 1
    assert switched.failures == ("2: too odd",)
    assert _serving(client, titles) == SECOND


def test_another_query_tower_moves_no_vector(client: OpenSearch, titles: str) -> None:
    assert begin(client, titles, OLD) == "current"
    tower = EncoderSpace("test-old", "1", "fp32", "cls", 4, True, "cosine", query_tower="abc")
    before = client.get(index=titles, id="0")
    assert begin(client, titles, tower) == "tower"
    assert spaces_in_meta(_meta(client, titles))[VECTOR_FIELD].encoder.query_tower == "abc"
    assert client.get(index=titles, id="0") == before
    assert stage_of(client, titles).step == "none"


def test_other_texts_are_another_space_of_the_same_encoder(
    client: OpenSearch, titles: str, workers: Any
) -> None:
    assert begin(client, titles, OLD, text=("title", "pages")) == "begin"
    fill(client, titles, workers)
    switch(client, titles, workers)
    assert _source(client, titles, "1")[SECOND] == pytest.approx(workers.old.vector("The harbour\n1"))


def test_an_owners_versions_move_only_where_he_said_so(client: OpenSearch, titles: str) -> None:
    uuid = client.indices.get(index=titles)[titles]["settings"]["index"]["uuid"]
    put_state(client, "attach", uuid, {"meta": {}}, index=titles)
    try:
        with pytest.raises(ReembedRefused, match="--accept-version-bump"):
            begin(client, titles, NEW)
        assert stage_of(client, titles).step == "none"
        assert begin(client, titles, NEW, accept_version_bump=True) == "begin"
    finally:
        delete_state(client, "attach", uuid)


def test_an_index_without_vectors_is_refused(client: OpenSearch, index_name: str) -> None:
    client.indices.create(index=index_name, body={"mappings": {"properties": {"title": {"type": "text"}}}})
    with pytest.raises(IndexNotOurs, match="trifuse attach"):
        begin(client, index_name, NEW)
