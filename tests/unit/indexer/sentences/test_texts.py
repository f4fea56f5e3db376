"""Sentences of any document: where their texts stand, and what they repeat for filters."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trifuse.indexer.sentences.origin import Origin
from trifuse.indexer.sentences.split import text_sentences
from trifuse.indexer.sentences.texts import (
    filter_values,
    parent_of,
    sentence_id,
    source_fields,
    source_sentences,
    texts_at,
)

SOURCE: dict[str, Any] = {
    "title": "One. Two.",
    "arms": [{"note": "First."}, {"note": ["Second.", 7, None]}],
    "site.city": "Oslo",
    "empty": None,
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("title", ["One. Two."]),
        ("arms.note", ["First.", "Second."]),
        ("site.city", ["Oslo"]),
        ("empty", []),
        ("missing.deep", []),
        ("title.deep", []),
    ],
)
def test_texts_of_paths_arrays_and_dotted_keys(path: str, expected: list[str]) -> None:
    assert list(texts_at(SOURCE, path.split("."))) == expected


def test_sections_items_and_ordinals() -> None:
    origin = Origin("i", "u", text=("title", "arms.note"))
    parent = parent_of("p", None, SOURCE, origin)
    places = [(each["section"], each.get("item"), each["ordinal"], each["text"]) for each in parent.documents]
    assert places == [
        ("title", None, 0, "One."),
        ("title", None, 1, "Two."),
        ("arms.note", 0, 0, "First."),
        ("arms.note", 1, 1, "Second."),
    ]
    assert all("parent_routing" not in each for each in parent.documents)


def test_e6_half_a_surrogate_pair_means_nothing_in_a_text_and_u_fffd_in_a_value() -> None:
    """As OpenSearch indexes it; offsets stay those of the stored text."""
    source = {"title": "One \ud800 two. Three.", "kind": ["\udc00", "a"], "year": 7}
    parent = parent_of("p", None, source, Origin("i", "u", text=("title",), values=("kind", "year")))
    assert [(each["text"], each["start"], each["end"]) for each in parent.documents] == [
        ("One   two.", 0, 10),
        ("Three.", 11, 17),
    ]
    assert {(*each["kind"], each["year"]) for each in parent.documents} == {("\ufffd", "a", 7)}


def test_the_parents_routing_is_carried() -> None:
    (only,) = parent_of("p", "r", {"title": "One."}, Origin("i", "u", text=("title",))).documents
    assert only["parent_routing"] == "r"


def test_trials_keep_their_sections() -> None:
    source = {"brief_summary": "A one. B two.", "eligibility": "Exclusion: asleep", "status": "COMPLETED"}
    parent = parent_of("NCT1", None, source, Origin("i", "u", trials=True))
    assert [(each["section"], each["text"]) for each in parent.documents] == [
        ("brief_summary", "A one."),
        ("brief_summary", "B two."),
        ("eligibility.exclusion", "asleep"),
    ]
    assert {each["status"] for each in parent.documents} == {"COMPLETED"}
    assert {each["enrollment"] for each in parent.documents} == {None}


def test_a_trials_field_that_is_no_text_has_no_sentence() -> None:
    parent = parent_of(
        "NCT1", None, {"brief_summary": ["A."], "eligibility": 3}, Origin("i", "u", trials=True)
    )
    assert list(parent.documents) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two\r\n\r\n- three\r\n- four", ["One.", "Two", "three", "four"]),
        ("  \n\t\n", []),
        ("", []),
        (
            "The quick brown fox jumps over the lazy dog and then it goes on to\nsleep. It wakes.",
            ["The quick brown fox jumps over the lazy dog and then it goes on to\nsleep.", "It wakes."],
        ),
        ("Short line\nAnother line", ["Short line", "Another line"]),
        (
            "The quick brown fox jumps over the lazy dog and then it goes on to\n- sleep",
            ["The quick brown fox jumps over the lazy dog and then it goes on to", "sleep"],
        ),
    ],
)
def test_lines_items_and_wrapped_lines(text: str, expected: list[str]) -> None:
    assert [each.text for each in text_sentences("note", text)] == expected


_words = st.sampled_from(
    ["Word.", "word", "No.", "e.g.", "5", "\n", "\r\n", "- ", "  ", "?", "x" * 70, "é。"]
)


@given(st.one_of(st.text(), st.lists(_words, max_size=40).map(" ".join)))
def test_offsets_point_at_the_text_in_order(text: str) -> None:
    found = list(text_sentences("note", text))
    assert all(text[each.start : each.end] == each.text and each.text == each.text.strip() for each in found)
    assert all(one.end <= two.start for one, two in pairwise(found))


@given(st.lists(st.sampled_from(["Word.", "word", "No.", "5", "\n", "x" * 70]), max_size=40).map(" ".join))
def test_sentences_hold_every_word(text: str) -> None:
    words = [word for each in text_sentences("note", text) for word in each.text.split()]
    assert words == text.split()


_leaves = st.one_of(st.text(max_size=20), st.integers(), st.none(), st.booleans())
_keys = st.sampled_from(["a", "b", "a.b", "c"])
_nodes = st.recursive(
    _leaves,
    lambda node: st.one_of(st.lists(node, max_size=3), st.dictionaries(_keys, node, max_size=3)),
    max_leaves=12,
)


@given(st.dictionaries(_keys, _nodes, max_size=4), st.sampled_from(["a", "a.b", "a.b.c", "c"]))
def test_any_source_gives_offsets_into_its_texts(source: dict[str, Any], path: str) -> None:
    texts = list(texts_at(source, path.split(".")))
    for each in source_sentences(source, [path]):
        assert texts[each.item or 0][each.start : each.end] == each.text


def test_filters_keep_their_structure_and_lose_the_rest() -> None:
    source = {
        "site": {"city": "Oslo", "beds": 3, "head": {"name": "x", "age": 4}},
        "arms": [{"type": "drug", "note": "n"}, {"note": "n"}],
        "site.country": "Norway",
        "phases": ["1", "2"],
        "one": ["x"],
        "year": 2020,
    }
    paths = ["site.city", "site.head.age", "site.country", "arms.type", "phases", "one", "year", "gone.deep"]
    assert filter_values(source, paths) == {
        "site": [{"city": "Oslo", "head": {"age": 4}}, {"country": "Norway"}],
        "arms": [{"type": "drug"}],
        "phases": ["1", "2"],
        "one": "x",
        "year": 2020,
        "gone": None,
    }


@given(st.dictionaries(_keys, _nodes, max_size=4))
def test_filters_of_any_source_are_named_whether_there_or_not(source: dict[str, Any]) -> None:
    assert set(filter_values(source, ["a.b", "c"])) == {"a", "c"}


def test_ids() -> None:
    assert sentence_id("NCT1", None, "eligibility.inclusion", 3) == "NCT1#eligibility.inclusion#3"
    assert sentence_id("p", "r", "t", 0) != sentence_id("p", "s", "t", 0) != sentence_id("p", None, "t", 0)
    assert len(sentence_id("é" * 256, None, "t", 0)) == 32


def test_source_fields_are_whole_objects() -> None:
    origin = Origin("i", "u", text=("title", "arms.note"), filters=("arms.type.raw",), values=("arms.type",))
    assert source_fields(origin) == ["arms", "title"]
