"""The case E6 from the field: values of owners' fields that are no texts, through attach and sync."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import RequestError

from trifuse.encoder.marks import EMPTY_HASH, VECTOR_FIELD
from trifuse.encoder.templates import text_hash
from trifuse.encoder.types import Encoder
from trifuse.indexer.copying import begin
from trifuse.indexer.copying.complete import complete
from trifuse.indexer.counts import counts
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


def raw(client: OpenSearch, index: str, doc_id: str, body: str) -> None:
    """Write a document byte by byte, as no client of ours would."""
    client.transport.perform_request("PUT", f"/{index}/_doc/{doc_id}", body=body)


@pytest.fixture
def values(client: OpenSearch, make: Any) -> Callable[..., str]:
    """Makes an index of the values above."""

    def made(*, knn: bool = True) -> str:
        name: str = make({"properties": {"title": {"type": "text"}}}, {"knn": knn}, docs=())
        for doc_id, (value, _) in VALUES.items():
            raw(client, name, doc_id, f'{{"title": {value}}}' if value else "{}")
        with pytest.raises(RequestError, match="failed to parse"):
            raw(client, name, "nan", '{"title": NaN}')
        client.indices.refresh(index=name)
        return name

    return made


def check(client: OpenSearch, index: str) -> None:
    """Each document has the vector of its text, or none where it has none; and each is counted, once."""
    for doc_id, (_, text) in VALUES.items():
        source = client.get(index=index, id=doc_id)["_source"]
        mark = source["trifuse"]["fields"][VECTOR_FIELD]
        assert mark["hash"] == (text_hash(text) if text else EMPTY_HASH), doc_id
        assert (VECTOR_FIELD in source) is bool(text), doc_id
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
