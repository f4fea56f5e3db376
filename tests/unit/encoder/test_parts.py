"""Parts as one text and back; templates and descriptions of parts; the spaces that they make."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.description import read_model
from trifuse.encoder.errors import ModelInvalid, SpaceMismatch
from trifuse.encoder.packing import pack, pad, present
from trifuse.encoder.parts import is_parts, join_parts, split_parts
from trifuse.encoder.registry import describe_encoder
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space, part_fields, spaces_in_meta
from trifuse.encoder.templates import TextTemplate, build_text, clean_text, text_hash

PLAIN = EncoderSpace("m", "r1", "fp32", "mean", 4, True, "cosine")
PARTED = replace(PLAIN, parts=("title", "condition", "context"))
TEMPLATE = TextTemplate(
    ("brief_title", "official_title", "conditions", "summary"),
    parts=("title", "title", "condition", "context"),
)


def test_parts_as_one_text() -> None:
    text = join_parts({"title": 'A "b"', "condition": "Sjögren", "context": ""})
    assert text == '\x1e{"title": "A \\"b\\"", "condition": "Sjögren"}'
    assert split_parts(text) == {"title": 'A "b"', "condition": "Sjögren"}
    assert is_parts(text)


def test_no_part_is_no_text() -> None:
    assert join_parts({}) == join_parts({"title": ""}) == join_parts({}, local=True) == ""


def test_a_local_text_is_of_one_part() -> None:
    assert join_parts({"title": "A"}, local=True) == '\x1f{"title": "A"}'
    assert split_parts('\x1f{"title": "A"}') == {"title": "A"}
    with pytest.raises(ValueError, match="of one part, got title, condition"):
        join_parts({"title": "A", "condition": "B"}, local=True)


@pytest.mark.parametrize("text", ["", "A", '{"title": "A"}', "\x1e", "\x1e[]", '\x1e{"title": ["A"]}'])
def test_a_text_that_isnt_one_of_parts(text: str) -> None:
    with pytest.raises(ValueError, match="parts"):
        split_parts(text)


@given(st.dictionaries(st.text(min_size=1), st.text(min_size=1), min_size=1))
def test_parts_come_back_as_they_were(parts: dict[str, str]) -> None:
    assert split_parts(join_parts(parts)) == parts
    assert len(text_hash(join_parts(parts))) == 32


@given(st.text())
def test_no_clean_text_is_mistaken_for_parts(text: str) -> None:
    assert not is_parts(clean_text(text))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"brief_title": "A", "conditions": ["x", "y"]}, {"title": "A", "condition": "x; y"}),
        ({"official_title": "O", "brief_title": "A"}, {"title": "A\nO"}),
        ({"brief_title": "A", "official_title": " A\r"}, {"title": "A"}),
        ({"conditions": ["x", "y", "x"]}, {"condition": "x; y"}),
        ({"summary": "&lt;18\x1e{", "brief_title": None}, {"context": "<18 {"}),
        ({"brief_title": 3, "summary": ["\ud800", ""]}, {"title": "3"}),
    ],
)
def test_the_text_of_a_document_by_parts(source: dict[str, Any], expected: dict[str, str]) -> None:
    assert split_parts(build_text(source, TEMPLATE)) == expected


def test_a_document_without_any_part_has_no_text() -> None:
    assert build_text({"other": "A", "summary": "\x00"}, TEMPLATE) == ""


def test_the_text_of_one_part() -> None:
    template = TextTemplate(("conditions",), parts=("condition",), local=True)
    assert build_text({"conditions": ["x"]}, template) == '\x1f{"condition": "x"}'
    assert build_text({}, template) == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parts": ("title",)}, "2 fields has 1 parts"),
        ({"parts": ("title", "condition"), "max_chars": 9}, "max_chars doesn't go with parts"),
        ({"parts": ("title", "condition"), "local": True}, r"of one part, got \['title', 'condition'\]"),
        ({"local": True}, r"of one part, got \[\]"),
    ],
)
def test_a_template_that_contradicts_itself(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextTemplate(("a", "b"), **options)


@pytest.mark.parametrize(
    "template", [TEMPLATE, TextTemplate(("a", "b"), parts=("title", "title"), local=True)]
)
def test_a_template_as_json_and_back(template: TextTemplate) -> None:
    assert TextTemplate.from_dict(json.loads(json.dumps(template.as_dict()))) == template


def test_spaces_of_plain_texts_have_the_ids_that_they_always_had() -> None:
    assert set(TextTemplate(("a",)).as_dict()) == {"fields", "separator", "max_chars", "role"}
    assert "parts" not in PLAIN.as_dict()
    encoder = describe_encoder("bge-small-en-v1.5-int8")
    assert encoder.id == "bge-small-en-v1.5-int8-9be8fc67a268"
    space = Space(encoder, TextTemplate(("a", "b"), max_chars=5))
    assert space.id == "bge-small-en-v1.5-int8-61317a18979a"
    assert describe_encoder("e5-small-v2").id == "e5-small-v2-3df5ccfa0426"


def test_parts_are_part_of_the_space() -> None:
    others = [
        Space(PARTED, TEMPLATE),
        Space(PARTED, replace(TEMPLATE, parts=("title", "condition", "condition", "context"))),
        Space(PARTED, TextTemplate(("brief_title",), parts=("title",))),
        Space(PARTED, TextTemplate(("brief_title",), parts=("title",), local=True)),
        Space(PARTED, TextTemplate(("brief_title",))),
        Space(PLAIN, TextTemplate(("brief_title",))),
    ]
    assert len({space.id for space in others}) == 6
    assert len({PLAIN.id, PARTED.id, replace(PARTED, parts=("condition", "title", "context")).id}) == 3


def test_meta_keeps_a_space_of_parts() -> None:
    space = Space(PARTED, TEMPLATE)
    meta = json.loads(json.dumps(meta_with_space(None, "v", space)))
    assert spaces_in_meta(meta) == {"v": space}


def test_a_space_refuses_parts_that_the_encoder_lacks() -> None:
    with pytest.raises(SpaceMismatch, match=r"parts condition, context, title, but .*'m' takes plain texts"):
        Space(PLAIN, TEMPLATE)
    with pytest.raises(SpaceMismatch, match=r"parts outcome, but .* takes title, condition, context"):
        Space(PARTED, TextTemplate(("a", "b"), parts=("title", "outcome")))


def test_fields_of_single_parts() -> None:
    whole = Space(PARTED, TEMPLATE)
    title = whole.of_part("title")
    other_text = Space(PARTED, TextTemplate(("brief_title",), parts=("title",), local=True))
    other_encoder = Space(replace(PARTED, revision="r0"), title.template)
    meta: dict[str, Any] | None = None
    for name, space in {"v": whole, "v_title": title, "a": other_text, "b": other_encoder}.items():
        meta = meta_with_space(meta, name, space)
    assert part_fields(meta, "v") == {"title": "v_title"}
    assert part_fields(meta, "v_title") == {}
    assert part_fields(meta_with_space(None, "v", Space(PLAIN, TextTemplate(("a",)))), "v") == {}
    with pytest.raises(SpaceMismatch, match=r"'w', but \['a', 'b', 'v', 'v_title'\]"):
        part_fields(meta, "w")


def test_the_space_of_one_part() -> None:
    local = Space(PARTED, TEMPLATE).of_part("title")
    assert local.template == TextTemplate(
        ("brief_title", "official_title"), parts=("title", "title"), local=True
    )
    assert build_text({"official_title": "A"}, local.template) == '\x1f{"title": "A"}'
    with pytest.raises(SpaceMismatch, match="have title, condition, context, and no part 'sponsor'"):
        Space(PARTED, TEMPLATE).of_part("sponsor")
    with pytest.raises(SpaceMismatch, match="have no parts, and no part 'title'"):
        Space(PLAIN, TextTemplate(("a",))).of_part("title")


@pytest.fixture
def folder(tmp_path: Path, make_parts_model) -> Path:
    return make_parts_model(tmp_path / "parts", {"a": (1.0, 2.0)})


def _change(folder: Path, **keys: Any) -> None:
    path = folder / "trifuse.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_a_folder_that_names_parts_is_read(folder: Path) -> None:
    model = read_model(folder)
    assert model.space.parts == ("title", "intervention", "condition", "outcome", "context")
    assert model.description.key_parts == ("title", "intervention", "condition", "outcome")
    assert model.description.as_dict()["parts"][4] == {"name": "context", "max_tokens": 16, "context": True}


_TITLE = {"name": "title", "max_tokens": 8}


@pytest.mark.parametrize(
    "parts",
    [
        [{**_TITLE, "max_tokens": 9}],
        [{**_TITLE, "context": True}],
        [{**_TITLE, "name": "label"}],
        [_TITLE, {**_TITLE, "name": "condition"}],
        [{**_TITLE, "name": "condition"}, _TITLE],
        [],
    ],
)
def test_whatever_is_said_of_parts_moves_the_space(folder: Path, parts: list[Any]) -> None:
    _change(folder, parts=[_TITLE])
    before = read_model(folder).space.id
    _change(folder, parts=parts)
    assert read_model(folder).space.id != before


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"parts": [_TITLE, _TITLE]}, "parts title, title: each name once"),
        ({"parts": [{**_TITLE, "context": True}, {**_TITLE, "name": "b", "context": True}]}, "one context"),
        ({"parts": [{**_TITLE, "max_tokens": 17}]}, "'title' has max_tokens 17, the model 16"),
        ({"parts": [{**_TITLE, "max_tokens": 0}]}, r"\$\.parts\[0\]\.max_tokens"),
        ({"parts": [{**_TITLE, "name": "Main title"}]}, r"\$\.parts\[0\]\.name"),
        ({"parts": [{**_TITLE, "tokens": 1}]}, "tokens"),
        ({"query_prefix": "query: "}, "query_prefix doesn't go with parts"),
        ({"query_model": "query.onnx"}, "query_model doesn't go with parts"),
        ({"pair_separator": "[SEP]"}, "pair_separator doesn't go with parts"),
    ],
)
def test_parts_that_contradict_each_other_are_refused(folder: Path, keys: Any, message: str) -> None:
    _change(folder, **keys)
    with pytest.raises(ModelInvalid, match=rf"trifuse\.json does not .*{message}"):
        read_model(folder)


def test_documents_are_packed_without_padding_between_parts() -> None:
    rows = [pack([(1, [5, 6, 7]), (3, [8])]), pack([(2, [9])]), pack([])]
    ids, positions, parts = pad(rows, pad_id=99)
    assert ids.tolist() == [[5, 6, 7, 8], [9, 99, 99, 99], [99] * 4]
    assert positions.tolist() == [[0, 1, 2, 0], [0] * 4, [0] * 4]
    assert parts.tolist() == [[1, 1, 1, 3], [2, 0, 0, 0], [0] * 4]
    assert present(parts, 3).tolist() == [[True, False, True], [False, True, False], [False] * 3]
    assert {array.dtype for array in (ids, positions, parts)} == {np.dtype(np.int64)}


def test_a_batch_of_documents_without_any_token_has_a_length() -> None:
    assert pad([pack([])], pad_id=0).ids.shape == (1, 1)
