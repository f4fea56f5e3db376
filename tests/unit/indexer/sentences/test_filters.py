"""The owner's mapping of filter fields, as sentences repeat it."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.encoder.ours import meta_with
from trifuse.indexer.errors import IndexNotOurs
from trifuse.indexer.sentences.filters import filter_fields
from trifuse.indexer.sentences.origin import Origin, meta_with_origin, origin_in_meta

KEYWORD = {"type": "keyword"}
PROPERTIES: dict[str, Any] = {
    "status": {**KEYWORD, "copy_to": "all"},
    "name": {"type": "text", "fields": {"raw": KEYWORD}},
    "site": {
        "properties": {"city": KEYWORD, "beds": {"type": "integer"}, "head": {"properties": {"age": KEYWORD}}}
    },
    "arms": {
        "type": "nested",
        "dynamic": "strict",
        "properties": {"type": KEYWORD, "note": {"type": "text"}},
    },
    "state": {"type": "alias", "path": "site.city"},
    "vector": {"type": "knn_vector", "dimension": 2},
    "text": {"type": "text"},
}


def found(*filters: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    fields = filter_fields(PROPERTIES, filters, index="notes")
    return fields.properties, fields.values


def test_a_plain_field_without_what_it_is_copied_to() -> None:
    assert found("status") == ({"status": KEYWORD}, ("status",))


def test_fields_in_objects_stay_in_them() -> None:
    properties, values = found("site.city", "site.head.age", "arms.type")
    assert properties == {
        "site": {"properties": {"city": KEYWORD, "head": {"properties": {"age": KEYWORD}}}},
        "arms": {"type": "nested", "dynamic": "strict", "properties": {"type": KEYWORD}},
    }
    assert values == ("site.city", "site.head.age", "arms.type")


def test_a_multi_field_brings_its_field() -> None:
    assert found("name.raw") == ({"name": PROPERTIES["name"]}, ("name",))


def test_another_name_of_a_field_brings_both() -> None:
    properties, values = found("state")
    assert properties == {"state": PROPERTIES["state"], "site": {"properties": {"city": KEYWORD}}}
    assert values == ("site.city",)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("gone", "no such field"),
        ("site.gone", "no such field"),
        ("status.raw", "no field 'raw' in 'status'"),
        ("site", "name the fields in it"),
        ("arms", "name the fields in it"),
        ("vector", "holds a vector"),
        ("text", "a field 'text' of their own"),
    ],
)
def test_what_cant_filter_is_refused(path: str, why: str) -> None:
    with pytest.raises(IndexNotOurs, match=why):
        found(path)


def test_the_origin_in_meta_keeps_the_rest() -> None:
    origin = Origin("notes", "u1", text=("body",), filters=("a.raw",), values=("a",))
    meta = meta_with_origin({"owner": 1, "trifuse": {"fields": {}}}, origin)
    assert meta["owner"] == 1
    assert meta["trifuse"]["fields"] == {}
    assert origin_in_meta(meta) == origin
    assert origin_in_meta(meta_with(None, "sentences", "x")) is None
