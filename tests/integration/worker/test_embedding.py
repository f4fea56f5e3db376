"""What one call of `embed` does to an index, on a real OpenSearch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, meta_with_space
from trifuse.encoder.templates import text_hash
from trifuse.indexer.errors import IndexMissing, IndexNotOurs
from trifuse.indexer.failures import read_failures
from trifuse.worker.embedding import EmbedReport, embed, give_up


def ids(*names: str) -> list[tuple[str, str | None]]:
    return [(name, None) for name in names]


def mark_in(found: dict[str, Any]) -> dict[str, str]:
    return found["_source"]["trifuse"]["fields"][VECTOR_FIELD]


def vector_in(found: dict[str, Any]) -> Any:
    return found["_source"].get(VECTOR_FIELD)


def test_vector_and_mark_are_written_in_one_call_of_the_encoder(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "2"))
    assert report == EmbedReport(embedded=2)
    assert hash_encoder.calls == [["The lighthouse", "The harbour"]]
    found = library.get("1")
    assert mark_in(found) == {"space": library.space.id, "hash": text_hash("The lighthouse")}
    np.testing.assert_allclose(vector_in(found), hash_encoder.vector("The lighthouse"), atol=1e-7)
    assert found["_source"]["shelf"] == 1


def test_equal_texts_are_encoded_once(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The  lighthouse ")
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "2"))
    assert (report.embedded, hash_encoder.calls) == (2, [["The lighthouse"]])


def test_c1_delivered_twice_makes_one_version(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    first = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    second = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert (first, second) == (EmbedReport(embedded=1), EmbedReport(current=1))
    assert library.get("1")["_version"] == 2  # the owner's write, and the vector
    assert len(hash_encoder.calls) == 1


def test_c1_delivered_twice_at_the_same_time_makes_one_version(library, hash_encoder, make_encoder) -> None:
    library.put("1", "The lighthouse")
    other = make_encoder()
    hash_encoder.before = lambda _: embed(library.client, other, library.name, VECTOR_FIELD, ids("1"))
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert report == EmbedReport(current=1)
    assert library.get("1")["_version"] == 2


def test_b8_text_edited_during_encoding_gets_the_vector_of_the_newest_text(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")

    def edit_once(_: object) -> None:
        if len(hash_encoder.calls) == 1:
            library.edit("1", title="The harbour")

    hash_encoder.before = edit_once
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert report == EmbedReport(embedded=1)
    assert hash_encoder.calls == [["The lighthouse"], ["The harbour"]]
    found = library.get("1")
    assert mark_in(found)["hash"] == text_hash("The harbour")
    np.testing.assert_allclose(vector_in(found), hash_encoder.vector("The harbour"), atol=1e-7)


def test_b8_another_field_edited_during_encoding_uses_the_vector_again(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    hash_encoder.before = lambda _: library.edit("1", shelf=7)
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert (report, len(hash_encoder.calls)) == (EmbedReport(embedded=1), 1)
    found = library.get("1")
    assert found["_source"]["shelf"] == 7
    assert mark_in(found)["hash"] == text_hash("The lighthouse")


def test_b8_a_document_that_is_always_written_stays_pending(library, hash_encoder) -> None:
    library.put("1", "Draft 0")
    hash_encoder.before = lambda _: library.edit("1", title=f"Draft {len(hash_encoder.calls)}")
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"), rounds=3)
    assert report == EmbedReport(unfinished=(("1", None),))
    assert vector_in(library.get("1")) is None


@pytest.mark.parametrize("title", [None, "", "   ", "\x00\r\n"])
def test_a_document_without_text_is_marked_and_not_encoded(library, hash_encoder, title: str | None) -> None:
    library.put("1", title)
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert (report, hash_encoder.calls) == (EmbedReport(emptied=1), [])
    assert mark_in(library.get("1"))["hash"] == "empty"
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1")) == EmbedReport(current=1)
    assert library.get("1")["_version"] == 2


def test_a_document_that_lost_its_text_loses_its_vector(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    library.edit("1", title="")
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1")).emptied == 1
    assert vector_in(library.get("1")) is None
    library.client.indices.refresh(index=library.name)
    answer = library.client.search(index=library.name, body={"query": {"exists": {"field": VECTOR_FIELD}}})
    assert answer["hits"]["hits"] == []


def test_a_mark_without_its_vector_is_not_believed(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    library.edit("1", **{VECTOR_FIELD: None})
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1")).embedded == 1
    assert vector_in(library.get("1")) is not None


def test_a_hint_without_its_routing_still_finds_the_document(make_library, index_name, hash_encoder) -> None:
    library = make_library(index_name, shards=5)
    for number in range(20):
        library.put(str(number), f"Volume {number}", routing=f"shelf-{number}")
    library.client.indices.refresh(index=index_name)
    report = embed(
        library.client, hash_encoder, index_name, VECTOR_FIELD, ids(*(str(number) for number in range(20)))
    )
    assert report == EmbedReport(embedded=20)
    found = library.get("7", routing="shelf-7")
    assert (found["_routing"], mark_in(found)["hash"]) == ("shelf-7", text_hash("Volume 7"))


def test_a_document_that_is_gone_is_passed_over(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "never"))
    assert report == EmbedReport(embedded=1, gone=1)


def test_a_document_deleted_during_encoding_does_not_come_back(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    hash_encoder.before = lambda _: library.client.delete(index=library.name, id="1")
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert report == EmbedReport(gone=1)
    assert not library.client.exists(index=library.name, id="1")


def test_a_rejected_text_is_recorded_and_left_alone_until_it_changes(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    hash_encoder.rejects = {"The harbour": "it is haunted"}
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "2"))
    assert report == EmbedReport(embedded=1, failed=1)
    record = read_failures(library.client, library.target, ids("2"))["2", None]
    assert (record.doc_id, record.reason, record.attempts) == ("2", "it is haunted", 1)
    assert (record.space, record.text_hash) == (library.space.id, text_hash("The harbour"))

    again = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("2"))
    assert (again, len(hash_encoder.calls)) == (EmbedReport(failed=1), 1)

    library.edit("2", title="The quay")
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("2")).embedded == 1
    assert read_failures(library.client, library.target, ids("2")) == {}


def test_a_document_that_opensearch_refuses_is_recorded(library, hash_encoder) -> None:
    """A field that was not mapped when the document was written, and can't be read now that it is."""
    library.client.indices.put_mapping(index=library.name, body={"dynamic": "false"})
    library.client.index(index=library.name, id="1", body={"title": "The lighthouse", "height": "tall"})
    library.put("2", "The harbour")
    library.client.indices.put_mapping(
        index=library.name, body={"properties": {"height": {"type": "integer"}}}
    )
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "2"))
    assert report == EmbedReport(embedded=1, failed=1)
    assert "height" in read_failures(library.client, library.target, ids("1"))["1", None].reason


def test_a_write_block_is_no_fault_of_the_documents(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    library.client.indices.put_settings(index=library.name, body={"index.blocks.write": True})
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1"))
    assert report == EmbedReport(unfinished=(("1", None),))
    assert read_failures(library.client, library.target, ids("1")) == {}


@pytest.mark.parametrize(
    ("vector", "why"),
    [
        ([0.0, 0.0, 0.0, 0.0], "zeros"),
        ([float("nan"), 0.5, 0.5, 0.5], "NaN"),
        ([float("inf"), 0.5, 0.5, 0.5], "infinity"),
        ([1e30, 0.5, 0.5, 0.5], "1e+30"),
    ],
)
def test_b1_a_vector_that_cannot_be_compared_is_refused_before_sending(
    library, hash_encoder, vector: list[float], why: str
) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    hash_encoder.odd = {"The harbour": vector}
    report = embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1", "2"))
    assert report == EmbedReport(embedded=1, failed=1)
    record = read_failures(library.client, library.target, ids("2"))["2", None]
    assert record.doc_id == "2"
    assert VECTOR_FIELD in record.reason
    assert why in record.reason
    assert library.get("2")["_version"] == 1


def test_b2_a_field_of_other_dimensions_is_an_error_before_the_first_text(
    client: OpenSearch, library, index_name: str, hash_encoder, make_encoder
) -> None:
    wide = EncoderSpace("test-hash", "1", "fp32", "cls", 8, True, "cosine")
    space = type(library.space)(wide, library.space.template)
    library.put("1", "The lighthouse")
    client.indices.put_mapping(index=index_name, body={"_meta": meta_with_space({}, VECTOR_FIELD, space)})
    encoder = make_encoder(wide)
    with pytest.raises(SpaceMismatch, match=r"dimension 4.* 8"):
        embed(client, encoder, index_name, VECTOR_FIELD, ids("1"))
    assert encoder.calls == []


def test_an_encoder_of_another_space_is_refused(library, make_encoder) -> None:
    library.put("1", "The lighthouse")
    other = make_encoder(EncoderSpace("test-hash", "2", "fp32", "cls", 4, True, "cosine"))
    with pytest.raises(SpaceMismatch, match="--encoder"):
        embed(library.client, other, library.name, VECTOR_FIELD, ids("1"))
    assert other.calls == []


def test_unknown_indexes_and_fields_are_errors(
    client: OpenSearch, library, hash_encoder, index_name: str, plain_index: Callable[[str], str]
) -> None:
    with pytest.raises(IndexMissing, match="there is no index"):
        embed(client, hash_encoder, f"{index_name}-none", VECTOR_FIELD, ids("1"))
    with pytest.raises(IndexNotOurs, match="'title'"):
        embed(client, hash_encoder, index_name, "title", ids("1"))
    with pytest.raises(IndexNotOurs, match="attach"):
        embed(client, hash_encoder, plain_index(f"{index_name}-plain"), VECTOR_FIELD, ids("1"))


def test_two_documents_of_one_id_in_two_shards_are_two(make_library, hash_encoder, index_name) -> None:
    library = make_library(index_name, shards=2)
    shards = {}
    for routing in "abcdefgh":
        told = library.client.search_shards(index=library.name, params={"routing": routing})
        shards.setdefault(told["shards"][0][0]["shard"], routing)
    assert len(shards) == 2
    hints = [("1", routing) for routing in shards.values()]
    for routing in shards.values():
        library.put("1", f"On shelf {routing}", routing=routing)
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, hints) == EmbedReport(embedded=2)
    for routing in shards.values():
        vector = vector_in(library.get("1", routing=routing))
        assert vector == pytest.approx(hash_encoder.vector(f"On shelf {routing}"))


def test_a_document_that_is_given_up_is_recorded_until_its_text_changes(library, hash_encoder) -> None:
    library.put("1", "The lighthouse")
    library.put("2", "The harbour")
    embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("2"))
    hints = ids("1", "2", "3")
    assert give_up(library.client, library.name, VECTOR_FIELD, hints, "it kills") == 1
    assert read_failures(library.client, library.target, ids("1"))["1", None].reason == "it kills"
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1")) == EmbedReport(failed=1)
    library.put("1", "The lighthouse keeper")
    assert embed(library.client, hash_encoder, library.name, VECTOR_FIELD, ids("1")).embedded == 1
