"""Sentences of an index that some other writer made and goes on writing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from opensearchpy import OpenSearch

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace, Space
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.load import load
from trifuse.indexer.mapping import sentence_mapping
from trifuse.indexer.progress import Step
from trifuse.indexer.readers import Record
from trifuse.indexer.sentences import (
    SentenceReport,
    attach_sentences,
    estimate,
    keep_sentences,
    keeper,
    parents,
)
from trifuse.indexer.sentences.write import SENTENCE_TEMPLATE
from trifuse.indexer.trial import TRIAL_TEMPLATE, Trial

ENCODER = EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine")
KEYWORD = {"type": "keyword"}
PROPERTIES: dict[str, Any] = {
    "body": {"type": "text"},
    "notes": {"properties": {"text": {"type": "text", "analyzer": "own"}, "kind": KEYWORD}},
    "status": KEYWORD,
}
SETTINGS = {
    "number_of_shards": 2,
    "analysis": {"analyzer": {"own": {"type": "custom", "tokenizer": "whitespace"}}},
}


def make(client: OpenSearch, name: str, **mappings: Any) -> None:
    body = {"settings": {"index": SETTINGS}, "mappings": {"properties": PROPERTIES, **mappings}}
    client.indices.create(index=name, body=body)


def put(client: OpenSearch, index: str, doc: str, **source: Any) -> None:
    client.index(index=index, id=doc, body=source)


def attach(
    client: OpenSearch, index: str, *, text: tuple[str, ...] = ("body",), filters: tuple[str, ...] = ()
) -> str:
    (name,) = attach_sentences(client, index, text=text, encoder=ENCODER, filters=filters)
    return name


def stored(client: OpenSearch, name: str) -> dict[str, dict[str, Any]]:
    client.indices.refresh(index=name)
    hits = client.search(index=name, body={"size": 1000, "version": True})["hits"]["hits"]
    return {hit["_id"]: {**hit["_source"], "_version": hit["_version"]} for hit in hits}


def texts(client: OpenSearch, name: str) -> list[str]:
    return sorted(found["text"] for found in stored(client, name).values())


def test_made_with_the_owners_filters_linked_and_the_same_again(client: OpenSearch, index_name: str) -> None:
    make(client, index_name, _meta={"owner": {"kept": 1}})
    name = attach(client, index_name, filters=("notes.kind", "notes.text", "status"))
    before = client.indices.get_mapping(index=f"{index_name}*")
    assert attach(client, index_name, filters=("notes.kind", "notes.text", "status")) == name
    assert client.indices.get_mapping(index=f"{index_name}*") == before
    parent, sentences = before[index_name]["mappings"], before[name]["mappings"]
    assert parent["_meta"] == {"owner": {"kept": 1}, "trifuse": {"sentences": name}}
    assert sentences["properties"]["notes"]["properties"] == PROPERTIES["notes"]["properties"]
    assert sentences["properties"]["status"] == KEYWORD
    settings = client.indices.get_settings(index=name)[name]["settings"]["index"]
    assert settings["analysis"]["analyzer"]["own"]["tokenizer"] == "whitespace"
    origin = sentences["_meta"]["trifuse"]["of"]
    uuid = client.indices.get(index=index_name)[index_name]["settings"]["index"]["uuid"]
    assert (origin["index"], origin["uuid"], origin["text"]) == (index_name, uuid, ["body"])


def test_edits_partial_updates_and_deletions_are_followed(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    for number in range(1, 5):
        put(client, index_name, str(number), body=f"Doc {number}. End {number}.", status="open")
    name = attach(client, index_name, filters=("status",))
    assert keep_sentences(client, index_name) == SentenceReport(written=8)
    assert keep_sentences(client, index_name) == SentenceReport()
    assert {found["_version"] for found in stored(client, name).values()} == {1}

    put(client, index_name, "1", body="Doc 1. New.", status="open")  # the second sentence
    client.update(index=index_name, id="2", body={"doc": {"status": "closed"}})  # both, by their filter
    client.update(index=index_name, id="3", body={"doc": {"body": None}})  # lost its text
    client.delete(index=index_name, id="4")
    assert keep_sentences(client, index_name) == SentenceReport(written=3, unchanged=1, deleted=4)
    found = stored(client, name)
    assert {key: (each["text"], each["status"]) for key, each in found.items()} == {
        "1#body#0": ("Doc 1.", "open"),
        "1#body#1": ("New.", "open"),
        "2#body#0": ("Doc 2.", "closed"),
        "2#body#1": ("End 2.", "closed"),
    }


def test_a_filter_that_is_gone_does_not_stay(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One.", notes={"kind": "a", "text": "x"}, status="open")
    name = attach(client, index_name, filters=("notes.kind", "notes.text", "status"))
    keep_sentences(client, index_name)
    put(client, index_name, "1", **{"body": "One.", "notes.text": "y"})
    assert keep_sentences(client, index_name).written == 1
    (only,) = stored(client, name).values()
    assert (only["notes"], only["status"]) == ([{"text": "y"}], None)
    query = {"query": {"match": {"notes.text": "y"}}}
    assert client.count(index=f"{index_name},{name}", body=query)["count"] == 2  # one filter fits both


def test_vectors_of_sentences_that_stay_are_kept(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One. Two.", status="open")
    name = attach(client, index_name, filters=("status",))
    keep_sentences(client, index_name)
    vector = {VECTOR_FIELD: [1, 0, 0, 0]}
    client.update(index=name, id="1#body#0", body={"doc": vector})
    put(client, index_name, "1", body="One. Three.", status="closed")
    keep_sentences(client, index_name)
    assert stored(client, name)["1#body#0"][VECTOR_FIELD] == [1, 0, 0, 0]


def test_documents_of_one_id_under_two_routings(client: OpenSearch, index_name: str) -> None:
    """Routed to both shards: each keeps sentences of its own, that say how to find it."""
    make(client, index_name, _routing={"required": True})
    shards: dict[str, str] = {}
    for routing in "abcdefgh":
        answer = client.search_shards(index=index_name, params={"routing": routing})
        shards.setdefault(answer["shards"][0][0]["shard"], routing)
    one, two = shards.values()
    client.index(index=index_name, id="1", routing=one, body={"body": "One."})
    client.index(index=index_name, id="1", routing=two, body={"body": "Two. Three."})
    name = attach(client, index_name)
    assert keep_sentences(client, index_name).written == 3
    client.delete(index=index_name, id="1", routing=two)
    assert keep_sentences(client, index_name).deleted == 2
    (only,) = stored(client, name).values()
    assert (only["text"], only["parent_id"], only["parent_routing"]) == ("One.", "1", one)


def test_each_index_behind_an_alias_has_its_own(client: OpenSearch, index_name: str) -> None:
    for number in (1, 2):
        make(client, f"{index_name}-{number}")
        client.indices.put_alias(index=f"{index_name}-{number}", name=index_name)
        put(client, f"{index_name}-{number}", "same", body=f"From {number}.")
    names = attach_sentences(client, index_name, text=["body"], encoder=ENCODER)
    assert len(names) == 2
    assert keep_sentences(client, index_name).written == 2
    assert [texts(client, name) for name in names] == [["From 1."], ["From 2."]]


def test_an_index_made_again_under_its_name(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One.")
    put(client, index_name, "2", body="Two.")
    name = attach(client, index_name)
    keep_sentences(client, index_name)
    client.indices.delete(index=index_name)
    make(client, index_name)
    put(client, index_name, "2", body="Other.")
    assert attach(client, index_name) == name
    assert keep_sentences(client, index_name) == SentenceReport(written=1, deleted=1)
    assert texts(client, name) == ["Other."]


def test_a_copy_takes_the_sentences_over_when_its_source_is_blocked(
    client: OpenSearch, index_name: str
) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One.")
    name = attach(client, index_name)
    keep_sentences(client, index_name)
    copy = f"{index_name}-copy"
    make(client, copy, _meta={"trifuse": {"sentences": name}})
    put(client, copy, "1", body="Older.")
    assert keep_sentences(client, copy) == SentenceReport()  # they still are the source's
    client.indices.put_settings(index=index_name, body={"index.blocks.write": True})
    put(client, copy, "1", body="Newer.")
    assert keep_sentences(client, copy) == SentenceReport(written=1)
    assert keep_sentences(client, index_name) == SentenceReport()
    assert texts(client, name) == ["Newer."]


def test_interrupted_between_pages_it_goes_on_there(
    client: OpenSearch, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "PAGE", 3)
    make(client, index_name)
    for number in range(20):
        put(client, index_name, str(number), body=f"Doc {number}.")
    name = attach(client, index_name)

    class Interrupted(Exception):
        pass

    def stop(step: Step) -> None:
        if step.done >= 6:
            assert step == Step("splitting", name, total=20, done=6)
            raise Interrupted

    with pytest.raises(Interrupted):
        keep_sentences(client, index_name, progress=stop)
    put(client, index_name, "0", body="Edited.")
    report = keep_sentences(client, index_name)
    assert report.written >= 14
    assert report.unchanged + report.written <= 20  # what was done isn't read again
    assert texts(client, name) == sorted([*(f"Doc {number}." for number in range(1, 20)), "Edited."])


def test_a_comparison_that_is_ended_early_goes_on_behind_the_parents_it_has_seen(
    client: OpenSearch, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parents, "_PAGE", 2)
    make(client, index_name)
    for number in range(6):
        put(client, index_name, str(number), body=f"Doc {number}.")
    name = attach(client, index_name)
    keep_sentences(client, index_name)
    for number in range(6):
        client.delete(index=index_name, id=str(number), params={"refresh": "true"})

    class Interrupted(Exception):
        pass

    def stop(step: Step) -> None:
        raise Interrupted

    left = []
    for _ in range(3):
        with pytest.raises(Interrupted):
            keep_sentences(client, index_name, progress=stop)
        left.append(texts(client, name))
    # deletions count as writes, of nothing: only the comparison has pages, of two parents each
    assert left == [[f"Doc {number}." for number in range(first, 6)] for first in (2, 4, 6)]
    assert keep_sentences(client, index_name) == SentenceReport()


def test_a_parent_that_is_written_meanwhile_is_split_again(
    client: OpenSearch, index_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if another keeper had already gone by the newer version."""
    make(client, index_name)
    put(client, index_name, "1", body="Old. Old too.")
    name = attach(client, index_name)
    write = keeper.SentenceWriter.write
    edits = iter(["New."])

    def edited_before(self: Any, parents: Any, **how: Any) -> Any:
        for body in edits:
            put(client, index_name, "1", body=body)
        return write(self, parents, **how)

    monkeypatch.setattr(keeper.SentenceWriter, "write", edited_before)
    keep_sentences(client, index_name)
    assert texts(client, name) == ["New."]


def test_twice_at_once_while_the_owner_edits(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    for number in range(60):
        put(client, index_name, str(number), body=f"Doc {number}. Old. Old.")
    name = attach(client, index_name)

    def run() -> None:
        for _ in range(4):
            keep_sentences(client, index_name)

    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(run), pool.submit(run)]
        for number in range(0, 60, 2):
            put(client, index_name, str(number), body=f"Doc {number}. New.")
        for each in both:
            each.result()
    keep_sentences(client, index_name)
    wanted = [f"Doc {number}." for number in range(60)] + ["New."] * 30 + ["Old."] * 60
    assert texts(client, name) == sorted(wanted)


def test_deletions_hidden_by_new_documents_are_found_by_a_full_pass(
    client: OpenSearch, index_name: str
) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One.")
    name = attach(client, index_name)
    keep_sentences(client, index_name)
    client.delete(index=index_name, id="1")
    put(client, index_name, "2", body="Two.")
    assert keep_sentences(client, index_name, full=True) == SentenceReport(written=1, deleted=1)
    assert texts(client, name) == ["Two."]


def test_a_document_whose_sentences_are_refused_holds_up_no_other(
    client: OpenSearch, index_name: str
) -> None:
    """A value that the owner's index takes since its mapping was changed."""
    make(client, index_name)
    number = {"type": "integer"}
    client.indices.put_mapping(index=index_name, body={"properties": {"size": number}})
    name = attach(client, index_name, filters=("size",))
    lax = {"size": {**number, "ignore_malformed": True}}
    client.indices.put_mapping(index=index_name, body={"properties": lax})
    put(client, index_name, "1", body="One.", size="large")
    put(client, index_name, "2", body="Two.", size=2)
    report = keep_sentences(client, index_name)
    assert (report.written, report.failed) == (1, 1)
    assert "size" in report.reason
    assert texts(client, name) == ["Two."]


def test_trials_that_were_loaded_with_sentences_are_followed_too(client: OpenSearch, index_name: str) -> None:
    summary = "Asthma is common. This trial compares two inhalers."
    trials = [
        Trial(nct_id=f"NCT{number}", brief_summary=summary, eligibility="- Adult.\nExclusion: asleep")
        for number in (1, 2)
    ]
    records = [Record(trial, "trials.ndjson", 1) for trial in trials]
    space = Space(ENCODER, TRIAL_TEMPLATE)
    load(client, records, index_name, space=space, sentences=True)
    name = f"{index_name}-trifuse-sentences"
    assert attach(client, index_name) == name
    assert keep_sentences(client, index_name) == SentenceReport(unchanged=8)
    doc = {"doc": {"brief_summary": "Asthma is rare.", "status": "COMPLETED"}}
    client.update(index=index_name, id="NCT1", body=doc)
    assert keep_sentences(client, index_name) == SentenceReport(written=3, deleted=1)
    found = stored(client, name)
    assert found["NCT1#brief_summary#0"]["text"] == "Asthma is rare."
    assert found["NCT1#eligibility.exclusion#0"]["status"] == "COMPLETED"
    report = load(client, records, index_name, space=space, sentences=True)
    assert report.sentences is not None
    assert (report.sentences.indexed, report.sentences.unchanged) == (4, 4)


def test_a_load_chooses_whose_sentences_there_are_unless_all_were_attached(
    client: OpenSearch, index_name: str
) -> None:
    space = Space(ENCODER, TRIAL_TEMPLATE)
    records = [
        Record(Trial(nct_id=f"NCT{number}", brief_summary="One. Two."), "t.ndjson", number)
        for number in (1, 2)
    ]
    load(client, records[:1], index_name, space=space, sentences=True)
    load(client, records[1:], index_name, space=space)
    assert keep_sentences(client, index_name) == SentenceReport(unchanged=2)
    client.update(index=index_name, id="NCT1", body={"doc": {"brief_summary": "One. Two. Three."}})
    client.update(index=index_name, id="NCT2", body={"doc": {"brief_summary": "Four."}})
    assert keep_sentences(client, index_name) == SentenceReport(written=1, unchanged=2)
    attach(client, index_name)
    assert keep_sentences(client, index_name) == SentenceReport(written=1, unchanged=3)
    load(client, records[:1], index_name, space=space, sentences=True)  # doesn't take that back
    client.update(index=index_name, id="NCT2", body={"doc": {"brief_summary": "Four. Five."}})
    assert keep_sentences(client, index_name).written == 1


def test_what_cant_be_attached_is_refused_before_anything_is_made(
    client: OpenSearch, index_name: str
) -> None:
    make(client, index_name)
    with pytest.raises(IndexNotOurs, match="gone"):
        attach(client, index_name, filters=("gone",))
    assert not client.indices.exists(index=f"{index_name}-trifuse-sentences")
    attach(client, index_name)
    other = EncoderSpace("tiny", "r2", "fp32", "cls", 4, True, "cosine")
    with pytest.raises(SpaceMismatch):
        attach_sentences(client, index_name, text=["body"], encoder=other)


def test_other_filters_are_added_and_written(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    put(client, index_name, "1", body="One.", status="open")
    name = attach(client, index_name)
    keep_sentences(client, index_name)
    attach(client, index_name, filters=("status",))
    assert keep_sentences(client, index_name) == SentenceReport(written=1)
    assert stored(client, name)["1#body#0"]["status"] == "open"


def test_the_estimate_counts_a_sample(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    for number in range(10):
        put(client, index_name, str(number), body="One. Two. Three.", notes=[{"text": "A."}, {"text": "B."}])
    client.indices.refresh(index=index_name)
    found = estimate(client, index_name, ["body", "notes.text"])
    assert (found.documents, found.sentences) == (10, 50)


def test_sentences_that_are_gone_are_not_made_again_by_keeping(client: OpenSearch, index_name: str) -> None:
    make(client, index_name)
    assert keep_sentences(client, index_name) == SentenceReport()  # has none
    client.indices.delete(index=attach(client, index_name))
    assert keep_sentences(client, index_name) == SentenceReport()


def test_sentences_of_an_earlier_version_are_taken_up(client: OpenSearch, index_name: str) -> None:
    """Loaded when neither the origin nor a routing was kept."""
    space = Space(ENCODER, TRIAL_TEMPLATE)
    trial = Trial(nct_id="NCT1", brief_summary="One. Two.")
    name = f"{index_name}-trifuse-sentences"
    body = sentence_mapping(Space(ENCODER, SENTENCE_TEMPLATE))
    for field in ("parent_routing", "item"):
        del body["mappings"]["properties"][field]
    client.indices.create(index=name, body=body)
    load(client, [Record(trial, "trials.ndjson", 1)], index_name, space=space)
    meta = client.indices.get_mapping(index=index_name)[index_name]["mappings"]["_meta"]
    meta["trifuse"]["sentences"] = name
    client.indices.put_mapping(index=index_name, body={"_meta": meta})
    old = {"parent_id": "NCT1", "section": "brief_summary", "ordinal": 0, "text": "Zero."}
    client.index(index=name, id="NCT1#brief_summary#0", body=old)
    assert keep_sentences(client, index_name) == SentenceReport(written=2)
    client.delete(index=index_name, id="NCT1")
    assert keep_sentences(client, index_name) == SentenceReport(deleted=2)
