"""A vector is never compared with one from another space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import (
    EncoderSpace,
    Space,
    has_spaces,
    meta_with_space,
    require_same_space,
    spaces_in_meta,
)
from trifuse.encoder.templates import TextTemplate

FP32 = EncoderSpace("m", "r1", "fp32", "cls", 384, True, "cosine")
SPACE = Space(FP32, TextTemplate(("title",)))


@pytest.mark.parametrize(
    "other",
    [
        replace(FP32, encoder="n"),
        replace(FP32, revision="r2"),
        replace(FP32, precision="int8"),
        replace(FP32, pooling="mean"),
        replace(FP32, dimension=768),
        replace(FP32, normalized=False),
        replace(FP32, similarity="dot"),
    ],
)
def test_whatever_moves_vectors_makes_another_space(other: EncoderSpace) -> None:
    assert other.id != FP32.id
    with pytest.raises(SpaceMismatch, match="--encoder"):
        require_same_space(other, FP32, what="the field 'v' of 'trials'")


def test_the_template_is_part_of_the_space() -> None:
    others = [
        TextTemplate(("title", "summary")),
        TextTemplate(("title",), separator=" "),
        TextTemplate(("title",), max_chars=10),
        TextTemplate(("title",), role="query"),
    ]
    assert len({SPACE.id, *(Space(FP32, t).id for t in others)}) == 5


def test_meta_keeps_what_others_wrote() -> None:
    meta = {"owner": "us", "trifuse": {"sentences": "s", "fields": {"other": SPACE.as_dict()}}}
    merged = meta_with_space(meta, "v", SPACE)
    assert merged["owner"] == "us"
    assert merged["trifuse"]["sentences"] == "s"
    assert spaces_in_meta(merged) == {"other": SPACE, "v": SPACE}
    assert "v" not in meta["trifuse"]["fields"]  # type: ignore[operator]


@pytest.mark.parametrize("meta", [None, {}, {"trifuse": None}, {"trifuse": {}}, {"other": 1}])
def test_an_index_without_spaces(meta: dict[str, object] | None) -> None:
    assert spaces_in_meta(meta) == {}


def test_an_edited_space_is_refused() -> None:
    value = SPACE.as_dict()
    value["encoder"]["dimension"] = 768
    with pytest.raises(SpaceMismatch, match="edited by hand"):
        Space.from_dict(value)


@pytest.mark.parametrize("value", [None, [], {}, {"encoder": {"new": 1}, "template": {}}, {"encoder": []}])
def test_a_space_that_this_version_cant_read_is_refused(value: Any) -> None:
    meta = {"trifuse": {"fields": {"v": value}}}
    assert has_spaces(meta)
    with pytest.raises(SpaceMismatch, match="another version"):
        spaces_in_meta(meta)
