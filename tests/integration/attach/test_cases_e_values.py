"""The case E6 from the field: values of owners' fields that are no texts, through attach and sync."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from trifuse.encoder.marks import EMPTY_HASH, VECTOR_FIELD
from trifuse.encoder.templates import text_hash
from trifuse.encoder.types import Encoder
from trifuse.indexer.attach import apply_attach
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import complete
from trifuse.indexer.counts import counts
from trifuse.indexer.failures import read_failures
from trifuse.indexer.sentences import attach_sentences
from trifuse.indexer.sync import SyncReport, sync
from trifuse.indexer.watch import watch
from trifuse.worker import sweep as sweeping
from trifuse.worker.embedding import embed

VALUES: dict[str, tuple[str, str]] = {
    "empty": ('""', ""),
    "blank": ('"   "', ""),
    "null": ("null", ""),
    "absent": ("", ""),
    "number": ("3.14", "3.14"),
    "whole": ("7", "7"),
    "boolean": ("true", ""),
    "list": ('["a", null, "b", 7, true, ["c"], ""]', "a; b; 7; c"),
    "empty list": ("[]", ""),
    "surrogate": (r'"\ud800"', ""),
    "surrogate in a text": (r'"a \ud800 b"', "a b"),
    "nul": (r'"a\u0000b"', "a b"),
    "right to left": ('"שלום عليكم"', "שלום عليكم"),
    "entities": ('"age &lt;18 &amp; &#8805;7"', "age <18 & ≥7"),
    "lines": (r'"a\r\n\tb "', "a b"),
    "large": ("9" * 300, "9" * 300),
    "beyond doubles": ("1e999", "Infinity"),  # as OpenSearch reads it
}
"""What stands at the field as JSON, by the document's id, and the text that is embedded; "" for none."""


def raw(client: OpenSearch, request: str, body: str) -> None:
    """Write byte by byte, as no client of ours would."""
    method, _, path = request.partition(" ")
    client.transport.perform_request(method, quote(path), body=body)


@pytest.fixture
def values(client: OpenSearch, make: Any) -> Callable[..., str]:
    """Makes an index of the values above."""

    def made(*, knn: bool = True) -> str:
        name: str = make({"properties": {"title": {"type": "text"}}}, {"knn": knn}, docs=())
        for doc_id, (value, _) in VALUES.items():
            raw(client, f"PUT /{name}/_doc/{doc_id}", f'{{"title": {value}}}' if value else "{}")
        with pytest.raises(RequestError, match="failed to parse"):
            raw(client, f"PUT /{name}/_doc/nan", '{"title": NaN}')
        client.indices.refresh(index=name)
        return name

    return made


def check(client: OpenSearch, index: str) -> None:
    """Each document has the vector of its text, or none where it has none; and each is counted, once."""
    for doc_id, (_, text) in VALUES.items():
        source = client.get(index=index, id=doc_id)["_source"]
        mark = source["trifuse"]["fields"][VECTOR_FIELD]
        assert mark["hash"] == (text_hash(text) if text else EMPTY_HASH), doc_id
        assert (source.get(VECTOR_FIELD) is not None) is bool(text), doc_id
    counted = counts(client, index)
    texts = sum(bool(text) for _, text in VALUES.values())
    found = [counted[key] for key in ("documents", "current", "empty", "stale", "missing", "failed")]
    assert found == [len(VALUES), texts, len(VALUES) - texts, 0, 0, 0]


@pytest.mark.parametrize("exact", [False, True], ids=["in_place", "exact"])
def test_e6_values_that_are_no_texts(client: OpenSearch, values: Any, attach: Any, exact: bool) -> None:
    name = values(knn=not exact)
    report = attach(name, "title", exact=exact)
    assert (report.pending, report.failed, report.skipped) == (0, 0, len(VALUES))
    check(client, name)


def test_e6_values_in_a_copy(client: OpenSearch, encoder: Encoder, values: Any, plan: Any) -> None:
    """The owner's documents come along as they are."""
    name = values()
    found = plan(name, "title", copy=True)
    copy = begin(client, name, alias=found.alias, space_field=(found.field, found.space))
    done = complete(
        client, copy, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None
    )
    assert (done.switched, done.faults) == (True, ())
    check(client, copy.index)
    for doc_id in VALUES.keys() - {"beyond doubles"}:
        there = client.get(index=copy.index, id=doc_id, params={"_source_excludes": "trifuse*"})["_source"]
        assert there == client.get(index=name, id=doc_id)["_source"], doc_id


@pytest.fixture(params=["watch", "sweep"])
def keep(
    request: pytest.FixtureRequest, client: OpenSearch, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Has the documents of an index that were edited embedded anew."""

    def bring(index: str, field: str, space: Any, ids: Any) -> None:
        embed(client, encoder, index, field, ids)

    def by_watch(name: str) -> None:
        stop = threading.Event()

        def see(seen: Any) -> None:
            if seen.seen >= len(VALUES) and not (seen.pending or seen.lag_operations):
                stop.set()

        watch(client, name, bring, stop=stop, interval_s=0.2, progress=see)

    def by_sweep(name: str) -> None:
        monkeypatch.setattr(sweeping, "_own_indexes", lambda client: [name])  # others share the server
        sweeping.sweep(client, bring, lambda queue: 0)
        client.indices.refresh(index=name)

    return {"watch": by_watch, "sweep": by_sweep}[request.param]


def test_e6_values_that_take_the_place_of_texts_and_texts_again(
    client: OpenSearch, make: Any, attach: Any, keep: Any
) -> None:
    """A vector goes with its text, and comes with it."""
    name = make(docs=())
    for doc_id in VALUES:
        client.index(index=name, id=doc_id, body={"title": "The first edition"})
    attach(name, "title")
    for doc_id, (value, _) in VALUES.items():
        if value:
            raw(client, f"POST /{name}/_update/{doc_id}", f'{{"doc": {{"title": {value}}}}}')
        else:
            raw(client, f"PUT /{name}/_doc/{doc_id}", "{}")
    keep(name)
    check(client, name)
    for doc_id in VALUES:
        client.update(index=name, id=doc_id, body={"doc": {"title": "The third edition"}})
    keep(name)
    assert counts(client, name)["current"] == len(VALUES)


def test_e6_objects_where_texts_were_expected(client: OpenSearch, make: Any, attach: Any) -> None:
    """Where the owner's mapping is loose enough to take them; texts beside them are embedded."""
    name = make(
        {
            "properties": {
                "title": {"type": "text"},
                "year": {"type": "integer", "ignore_malformed": True},
                "parts": {"type": "nested", "properties": {"text": {"type": "text"}}},
                "extra": {"type": "flat_object"},
            }
        },
        docs=[
            {"title": "a", "year": {"from": 2001}},
            {"title": "a", "parts": {"text": "b"}},
            {"title": "a", "parts": [{"text": ["b", None]}, {}, {"text": "c"}]},
            {"title": "a", "extra": {"note": {"deep": "b"}}},
            {"title": "a", "extra": {"note": "b"}},
            {"year": {"from": 2001}, "extra": {"note": [{"x": "b"}, "c"]}},
            {"year": [2001, {"from": 2002}]},
        ],
    )
    attach(name, "title", "year", "parts.text", "extra.note")
    texts = ["a", "a\nb", "a\nb; c", "a", "a\nb", "c", "2001"]
    for doc_id, text in enumerate(texts):
        source = client.get(index=name, id=str(doc_id))["_source"]
        assert source["trifuse"]["fields"][VECTOR_FIELD]["hash"] == text_hash(text), doc_id


def test_e6_values_in_sentences_and_what_these_are_filtered_by(
    client: OpenSearch, make: Any, encoder: Encoder, attach: Any
) -> None:
    """A sentence is found by what its document is found by."""
    properties = {"kind": {"type": "keyword"}, "year": {"type": "integer", "ignore_malformed": True}}
    name = make({"properties": {"title": {"type": "text"}, **properties}}, docs=())
    fields = [
        r'"kind": "\ud800"',
        '"kind": ["a", null, true]',
        '"kind": 3.5',
        '"kind": null',
        '"year": "soon"',
        '"year": {"from": 1}',
    ]
    for doc_id, field in enumerate(fields):
        raw(client, f"PUT /{name}/_doc/{doc_id}", rf'{{"title": "One \ud800 two. Three.", {field}}}')
    client.indices.refresh(index=name)
    attach(name, "title")
    (sentences,) = attach_sentences(
        client, name, text=["title"], encoder=encoder.space, filters=list(properties)
    )
    sync(client, name, lambda index, field, space, ids: embed(client, encoder, index, field, ids) and None)
    client.indices.refresh(index=sentences)
    counted = counts(client, sentences)
    assert (counted["documents"], counted["current"]) == (2 * len(fields), 2 * len(fields))
    for kind, found in {"\ufffd": ["0"], "a": ["1"], "true": ["1"], "3.5": ["2"]}.items():
        body = {"query": {"term": {"kind": kind}}}
        assert [hit["_id"] for hit in client.search(index=name, body=body)["hits"]["hits"]] == found
        hits = client.search(index=sentences, body=body)["hits"]["hits"]
        assert [hit["_source"]["parent_id"] for hit in hits] == found * 2, kind
        assert sorted(hit["_source"]["text"] for hit in hits) == ["One   two.", "Three."]


def test_e6_an_id_that_does_not_lead_to_its_document(
    client: OpenSearch, make: Any, encoder: Encoder, plan: Any
) -> None:
    """Half a surrogate pair is shown as U+FFFD, but the document is on the shard of the id as given."""
    name = make(settings={"number_of_shards": 2}, docs=[{"title": "One"}])
    raw(client, f"POST /{name}/_bulk", '{"index": {"_id": "\\ud800"}}\n{"title": "Two"}\n')
    (target,) = apply_attach(client, plan(name, "title"))

    def enqueue(index: str, field: str, space: Any, ids: Any) -> None:
        embed(client, encoder, index, field, ids)

    assert sync(client, name, enqueue, wait=True) == SyncReport(pending=0, embedded=1, skipped=0, failed=1)
    (failed,) = read_failures(client, target, [("\ufffd", None)]).values()
    assert "write the document again under another id" in failed.reason
    assert sync(client, name, enqueue, wait=True) == SyncReport(pending=0, embedded=0, skipped=1, failed=1)
    # A second one, shown by the same id: that leads to one of the two.
    raw(client, f"POST /{name}/_bulk", '{"index": {"_id": "\\udbff"}}\n{"title": "Three"}\n')
    report = sync(client, name, enqueue, wait=True)
    assert (report.pending, report.failed) == (1, 0)
    assert report.stalled.startswith(f"1 documents of the index {name!r} are pending in spite of all")
