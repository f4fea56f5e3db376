"""Where an index stands on its way to another space, and what is done next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import (
    EncoderSpace,
    Space,
    meta_serving,
    meta_with_space,
    serving_field,
    spaces_in_meta,
)
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.errors import IndexNotOurs, ReembedRefused
from trifuse.indexer.reembed.stage import (
    decide,
    dropping_in_meta,
    meta_begun,
    meta_done,
    meta_dropping,
    read_stage,
)

OLD = Space(EncoderSpace("old", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
NEW = Space(EncoderSpace("new", "1", "fp32", "cls", 8, True, "cosine"), TextTemplate(("title",)))
PLAIN = meta_with_space({"theirs": 1}, "a", OLD)
BEGUN = meta_begun(PLAIN, "a", "b", NEW)
SWITCHED = meta_serving(BEGUN, "b")


def test_the_old_field_is_served_until_the_switch() -> None:
    assert serving_field(BEGUN) == "a"
    assert spaces_in_meta(BEGUN) == {"a": OLD, "b": NEW}
    assert BEGUN["theirs"] == 1
    stage = read_stage("i", BEGUN)
    assert (stage.step, stage.serving, stage.space, stage.other, stage.other_space) == (
        "filling",
        "a",
        OLD,
        "b",
        NEW,
    )
    stage = read_stage("i", SWITCHED)
    assert (stage.step, stage.serving, stage.space, stage.other, stage.other_space) == (
        "switched",
        "b",
        NEW,
        "a",
        OLD,
    )


def test_a_field_that_is_dropped_is_out_of_use_and_remembered() -> None:
    dropping = meta_dropping(SWITCHED, "a")
    assert spaces_in_meta(dropping) == {"b": NEW}
    assert serving_field(dropping) == "b"
    stage = read_stage("i", dropping)
    assert (stage.step, stage.serving, stage.other, stage.other_space) == ("dropping", "b", "a", OLD)
    done = read_stage("i", meta_done(dropping))
    assert (done.step, done.serving, done.other) == ("none", "b", None)


def test_what_cant_be_read_is_said() -> None:
    with pytest.raises(IndexNotOurs, match="trifuse attach i"):
        read_stage("i", {"theirs": 1})
    edited = {"trifuse": {**BEGUN["trifuse"], "reembed": {"to": "c", "from": "a"}}}
    with pytest.raises(SpaceMismatch, match="edited by hand"):
        read_stage("i", edited)


@pytest.mark.parametrize(
    ("meta", "wanted", "expected"),
    [
        (PLAIN, OLD, "current"),
        (PLAIN, replace(OLD, encoder=replace(OLD.encoder, query_tower="abc")), "tower"),
        (PLAIN, NEW, "begin"),
        (PLAIN, replace(OLD, template=TextTemplate(("title", "body"))), "begin"),
        (BEGUN, NEW, "resume"),
        (SWITCHED, NEW, "switched"),
        (meta_dropping(SWITCHED, "a"), OLD, "begin"),
    ],
)
def test_what_is_to_be_done(meta: dict[str, object], wanted: Space, expected: str) -> None:
    assert decide(read_stage("i", meta), wanted) == expected


@pytest.mark.parametrize(
    ("meta", "wanted", "remedy"),
    [
        (BEGUN, OLD, "reembed i --encoder new`, or drop that with `trifuse reembed i --abandon`"),
        (
            BEGUN,
            replace(NEW, template=TextTemplate(("body",))),
            "or drop that with `trifuse reembed i --abandon`",
        ),
        (SWITCHED, OLD, "`trifuse reembed i --finish` or `--rollback`"),
    ],
)
def test_another_space_meanwhile_is_refused(meta: dict[str, object], wanted: Space, remedy: str) -> None:
    with pytest.raises(ReembedRefused) as caught:
        decide(read_stage("i", meta), wanted)
    assert remedy in str(caught.value)


PARTED = replace(OLD.encoder, parts=("title", "context"))
OLD_PARTS = Space(PARTED, TextTemplate(("title",), parts=("title",)))
OLD_TITLE = Space(PARTED, TextTemplate(("title",), parts=("title",), local=True))


def test_vectors_of_parts_go_with_the_field_of_their_encoder() -> None:
    meta = meta_with_space(meta_with_space(None, "a", OLD_PARTS), "a_title", OLD_TITLE)
    switched = meta_serving(meta_begun(meta, "a", "b", NEW), "b")
    dropping = meta_dropping(switched, "a")
    assert spaces_in_meta(dropping) == {"b": NEW}
    assert dropping_in_meta(dropping) == {"a_title": OLD_TITLE, "a": OLD_PARTS}
    assert meta_dropping(dropping, "a") == dropping
    stage = read_stage("i", dropping)
    assert (stage.step, stage.other, stage.other_space) == ("dropping", "a", OLD_PARTS)
    assert dropping_in_meta(meta_done(dropping)) == {}


def test_vectors_of_parts_stay_where_another_field_has_the_same_parts() -> None:
    other = Space(PARTED, TextTemplate(("title", "body"), parts=("title", "context")))
    meta = meta_with_space(meta_with_space(None, "a", OLD_PARTS), "a_title", OLD_TITLE)
    dropping = meta_dropping(meta_serving(meta_begun(meta, "a", "b", other), "b"), "a")
    assert spaces_in_meta(dropping) == {"b": other, "a_title": OLD_TITLE}
    assert dropping_in_meta(dropping) == {"a": OLD_PARTS}
    back = meta_dropping(meta_begun(meta, "a", "b", other), "b")
    assert spaces_in_meta(back) == {"a": OLD_PARTS, "a_title": OLD_TITLE}
