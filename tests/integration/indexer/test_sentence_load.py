"""Sentences in an index of their own, beside the trials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space, spaces_in_meta
from trifuse.indexer.load import load
from trifuse.indexer.mapping import sentence_index
from trifuse.indexer.readers import Record
from trifuse.indexer.report import LoadReport, SentenceCounts
from trifuse.indexer.trial import TRIAL_TEMPLATE

Made = Callable[..., Record]

SUMMARY = "Asthma is common. This trial compares two inhalers."


def _sentences(client: OpenSearch, index: str) -> dict[str, dict[str, Any]]:
    name = sentence_index(index)
    client.indices.refresh(index=name)
    hits = client.search(index=name, body={"size": 1000}, version=True)["hits"]["hits"]
    return {hit["_id"]: {**hit["_source"], "_version": hit["_version"]} for hit in hits}


def _load(client: OpenSearch, records: list[Record], index: str, space: Space, hints: Any) -> LoadReport:
    hints.calls.clear()
    hints.ids.clear()
    return load(client, records, index, space=space, enqueue=hints, sentences=True)


def test_one_document_a_sentence_with_its_place_and_the_filters(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    trial = record(1, brief_summary=SUMMARY, status="COMPLETED", phases=("PHASE2",))
    report = _load(client, [trial], index_name, space, hints)
    assert report.sentences == SentenceCounts(indexed=2)
    found = _sentences(client, index_name)
    assert set(found) == {"T0001#brief_summary#0", "T0001#brief_summary#1"}
    second = found["T0001#brief_summary#1"]
    assert second["text"] == "This trial compares two inhalers."
    assert SUMMARY[second["start"] : second["end"]] == second["text"]
    assert (second["parent_id"], second["section"], second["ordinal"]) == ("T0001", "brief_summary", 1)
    assert (second["status"], second["phases"]) == ("COMPLETED", ["PHASE2"])
    assert [call[0] for call in hints.calls] == [sentence_index(index_name), index_name]
    assert sorted(hints.ids) == ["T0001", "T0001#brief_summary#0", "T0001#brief_summary#1"]


def test_the_mappings_name_the_index_and_the_space(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    load(client, [record(1)], index_name, space=space)
    _load(client, [record(1)], index_name, space, hints)
    name = sentence_index(index_name)
    mappings = {
        key: value["mappings"] for key, value in client.indices.get_mapping(index=f"{index_name}*").items()
    }
    assert mappings[index_name]["_meta"]["trifuse"]["sentences"] == name
    assert spaces_in_meta(mappings[index_name]["_meta"]) == {VECTOR_FIELD: space}
    of_sentences = spaces_in_meta(mappings[name]["_meta"])[VECTOR_FIELD]
    assert (of_sentences.encoder, of_sentences.template.fields) == (space.encoder, ("text",))


def test_the_same_again_writes_nothing(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    records = [record(n, brief_summary=SUMMARY) for n in range(5)]
    _load(client, records, index_name, space, hints)
    report = _load(client, records, index_name, space, hints)
    assert report.sentences == SentenceCounts(unchanged=10)
    assert hints.ids == []
    assert {found["_version"] for found in _sentences(client, index_name).values()} == {1}


def test_a_changed_trial_keeps_what_stays_and_loses_what_is_gone(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    _load(
        client, [record(1, brief_summary=SUMMARY), record(2, brief_summary=SUMMARY)], index_name, space, hints
    )
    changed = record(1, brief_summary="Asthma is common.", official_title="Another title")
    report = _load(client, [changed], index_name, space, hints)
    assert report.sentences == SentenceCounts(unchanged=1, deleted=1)
    assert set(_sentences(client, index_name)) == {
        "T0001#brief_summary#0",
        "T0002#brief_summary#0",
        "T0002#brief_summary#1",
    }


def test_sentences_of_trials_that_were_loaded_without_them(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    load(client, [record(1, brief_summary=SUMMARY)], index_name, space=space)
    report = _load(client, [record(1, brief_summary=SUMMARY)], index_name, space, hints)
    assert (report.indexed, report.unchanged) == (0, 1)
    assert report.sentences == SentenceCounts(indexed=2)


def test_a_trial_whose_sentences_are_refused_is_not_written(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    """Its mark would say that all is there."""
    bad = record(1, brief_summary=SUMMARY, enrollment=2**40)
    report = _load(client, [bad, record(2, brief_summary=SUMMARY)], index_name, space, hints)
    assert (report.read, report.indexed, len(report.rejected)) == (2, 1, 1)
    assert "sentence 'T0001#brief_summary#0'" in report.rejected[0].reason
    assert not client.exists(index=index_name, id="T0001")


def test_sentences_of_another_space_are_refused(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    _load(client, [], index_name, space, hints)
    client.indices.delete(index=index_name)
    other = Space(EncoderSpace("tiny", "r2", "fp32", "cls", 4, True, "cosine"), TRIAL_TEMPLATE)
    with pytest.raises(SpaceMismatch):
        _load(client, [record(1)], index_name, other, hints)


def test_by_an_alias_they_are_the_same_sentences(
    client: OpenSearch, index_name: str, space: Space, record: Made, hints: Any
) -> None:
    alias = f"{index_name}-alias"
    load(client, [], index_name, space=space)
    client.indices.put_alias(index=index_name, name=alias)
    trial = record(1, brief_summary=SUMMARY)
    assert _load(client, [trial], alias, space, hints).sentences == SentenceCounts(indexed=2)
    assert _load(client, [trial], index_name, space, hints).sentences == SentenceCounts(unchanged=2)
    assert set(client.indices.get(index=f"{index_name}*")) == {index_name, sentence_index(index_name)}
