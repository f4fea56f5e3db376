"""Documents as bytes: nothing of the owner's is parsed and written anew."""

from __future__ import annotations

import json
import sys

import msgspec
import pytest

from trifuse.indexer.copying.documents import Kept, Version, carried, copied, kept_of, parts_of

VERSION = Version("h", 7, 2)
SAID = b'"trifuse":{"source":{"history":"h","seq_no":7,"primary_term":2}}'


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"{}", b"{" + SAID + b"}"),
        (
            b'{"z":1.10,"a.b":123456789012345678901234567890,"e":1E400}',
            b'{"z":1.10,"a.b":123456789012345678901234567890,"e":1E400,' + SAID + b"}",
        ),
        (b' {\n  "a": "x\\ny",\r\n "b" : [1,\n2]\n}\n', b'{"a": "x\\ny",   "b" : [1, 2],' + SAID + b"}"),
        (
            b'{"a":"\\ud800 \\\\ud800 <surrogate>","b":"\\ud83d\\ude00"}',
            b'{"a":"\\ud800 \\\\ud800 <surrogate>","b":"\\ud83d\\ude00",' + SAID + b"}",
        ),
    ],
)
def test_a_copied_document_is_the_source_with_its_version(raw: bytes, expected: bytes) -> None:
    """Values byte for byte; breaks of lines between them become spaces."""
    assert bytes(copied(raw, "v", (), VERSION, Kept())) == expected


def test_a_vector_of_ours_that_is_dropped_goes_with_its_mark_and_the_copys_own_stays() -> None:
    """The record's hash stays; the dropped field's vector and mark go; the copy's vector is kept."""
    raw = b'{"a":1,"old":[1],"trifuse":{"record":"r","fields":{"old":{"space":"s","hash":"t"}}},"b":2}'
    kept = Kept(Version("h", 1, 1), {"space": "n", "hash": "u"}, msgspec.Raw(b"[0.5]"))
    found = json.loads(bytes(copied(raw, "new", ["old"], VERSION, kept)))
    assert found == {
        "a": 1,
        "b": 2,
        "new": [0.5],
        "trifuse": {
            "record": "r",
            "fields": {"new": {"space": "n", "hash": "u"}},
            "source": {"history": "h", "seq_no": 7, "primary_term": 2},
        },
    }


def test_what_a_copys_document_holds_is_read_back() -> None:
    """Version, mark and vector; nothing of a document that the owner wrote."""
    raw = bytes(
        copied(b'{"a":1}', "v", (), VERSION, Kept(None, {"space": "s", "hash": "t"}, msgspec.Raw(b"[1]")))
    )
    kept = kept_of(raw, "v")
    assert (kept.version, kept.mark) == (VERSION, {"space": "s", "hash": "t"})
    assert kept.vector is not None
    assert bytes(kept.vector) == b"[1]"
    assert kept_of(b'{"a":1}', "v") == Kept()


@pytest.mark.parametrize(
    ("other", "covered"),
    [(Version("h", 7, 2), True), (Version("h", 8, 2), False), (Version("g", 6, 1), False)],
)
def test_a_version_covers_older_ones_of_its_history(other: Version, covered: bool) -> None:
    """The same, a later, and one of another history."""
    assert VERSION.covers(other) is covered


def test_a_document_that_goes_back_has_nothing_of_the_copy() -> None:
    """Our field and version go; what the source had of ours stays with it."""
    raw = b'{"a":1.10,"new":[1],"trifuse":{"fields":{"new":{"space":"s"}},"source":{"seq_no":1}}}'
    assert bytes(carried(raw, ["new"], {})) == b'{"a":1.10}'
    before = parts_of(b'{"old":[2],"trifuse":{"fields":{"old":{"space":"o"}}}}')
    assert json.loads(bytes(carried(raw, ["new"], before))) == {
        "a": 1.1,
        "old": [2],
        "trifuse": {"fields": {"old": {"space": "o"}}},
    }


def test_vectors_of_parts_stay_with_the_copy() -> None:
    raw = (
        b'{"a":1,"new":[1],"new_title":[2],'
        b'"trifuse":{"fields":{"new":{"space":"s"},"new_title":{"space":"t"},"theirs":{"space":"u"}}}}'
    )
    assert json.loads(bytes(carried(raw, ["new", "new_title"], {}))) == {
        "a": 1,
        "trifuse": {"fields": {"theirs": {"space": "u"}}},
    }


def test_a_document_of_a_thousand_levels_is_read() -> None:
    """OpenSearch takes as many in what it doesn't index; Python's own limit is no higher, at first."""
    raw = b'{"deep":' + b'{"a":' * 995 + b"1" + b"}" * 995 + b"}"
    before = sys.getrecursionlimit()
    try:
        assert bytes(parts_of(raw)["deep"]) == raw[8:-1]
    finally:
        sys.setrecursionlimit(before)
