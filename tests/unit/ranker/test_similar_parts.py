"""Which vectors documents are compared by, and what parts of one become."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.encoder.parts import join_parts
from trifuse.encoder.spaces import EncoderSpace, Space, meta_serving, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker.errors import BodyError
from trifuse.ranker.similar_parts import field_by, nearest_body, text_of
from trifuse.ranker.target import Target, read_target

PLAIN = Space(
    EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine"),
    TextTemplate(("brief_title", "conditions"), separator=" | ", max_chars=30),
)
ENCODER = EncoderSpace(
    "parts", "r1", "fp32", "cls", 3, True, "cosine", parts=("title", "condition", "context")
)
WHOLE = Space(ENCODER, TextTemplate(("brief_title", "conditions"), parts=("title", "condition")))


def local(part: str, encoder: EncoderSpace = ENCODER) -> Space:
    """The space of a part's own vectors."""
    return Space(encoder, TextTemplate((part,), parts=(part,), local=True))


def target(*indices: dict[str, Space], serving: str | None = None, knn: bool = True) -> Target:
    """Indices with vector fields."""
    answer: dict[str, Any] = {}
    for number, spaces in enumerate(indices):
        meta: dict[str, Any] = {}
        for field, space in spaces.items():
            meta = meta_with_space(meta, field, space)
        meta = meta_serving(meta, serving) if serving else meta
        settings = {"index": {"knn": str(knn).lower()}}
        answer[f"i{number}"] = {"mappings": {"_meta": meta}, "settings": settings}
    return read_target("i*", answer)


def test_documents_are_compared_by_what_is_served() -> None:
    assert field_by(target({"v": PLAIN, "v_2": WHOLE}, serving="v_2"), None) == "v_2"


def test_a_parts_own_vectors_are_found_by_their_space_and_not_by_a_name() -> None:
    there = target({"v": WHOLE, "title_vector": local("condition"), "v_condition": local("title")})
    assert field_by(there, "condition") == "title_vector"


def test_of_several_fields_that_of_the_most_indices_is_taken() -> None:
    one, other = {"v": WHOLE, "b": local("title")}, {"v": WHOLE, "a": local("title")}
    assert field_by(target(other, one, one), "title") == "b"
    assert field_by(target(one, other), "title") == "a"


def test_vectors_of_another_encoder_are_no_parts_of_the_served_ones() -> None:
    other = EncoderSpace("old", "r1", "fp32", "cls", 3, True, "cosine", parts=("title",))
    there = target({"v": WHOLE, "v_title": local("title", other)})
    with pytest.raises(BodyError, match=r"'title' by itself, and has none of single parts: .*--part-vectors"):
        field_by(there, "title")


def test_what_there_is_instead_is_named() -> None:
    with pytest.raises(BodyError, match="'dose' by itself, and has those of condition, title"):
        field_by(target({"v": WHOLE, "t": local("title"), "c": local("condition")}), "dose")


@pytest.mark.parametrize("part", [None, "title"])
def test_an_index_without_vectors_says_how_to_get_some(part: str | None) -> None:
    with pytest.raises(BodyError, match="'i\\*' has no vectors: `trifuse attach` adds some"):
        field_by(target({}), part)


def test_an_encoder_of_plain_texts_gets_them_as_the_template_joins() -> None:
    parts = {"condition": ["acute", "asthma"], "title": "Relief &amp; air"}
    assert text_of(parts, PLAIN) == "acute; asthma | Relief & air"


def test_parts_named_as_the_templates_fields_come_first_in_its_order() -> None:
    assert text_of({"note": "n", "conditions": "c", "brief_title": "t"}, PLAIN) == "t | c | n"


def test_the_text_is_cut_as_the_templates() -> None:
    assert text_of({"title": "x" * 40}, PLAIN) == "x" * 30


def test_an_encoder_of_parts_gets_them_in_its_order() -> None:
    parts = {"condition": ["acute", "asthma"], "title": "Relief"}
    assert text_of(parts, WHOLE) == join_parts({"title": "Relief", "condition": "acute; asthma"})


def test_a_part_that_the_documents_lack_may_be_given_too() -> None:
    assert text_of({"context": "adults"}, WHOLE) == join_parts({"context": "adults"})


def test_the_only_part_is_asked_for_by_itself() -> None:
    assert text_of({"title": "Relief"}, local("title")) == join_parts({"title": "Relief"}, local=True)


@pytest.mark.parametrize(
    ("parts", "space", "message"),
    [
        ({}, PLAIN, "no part to compare by"),
        ({"title": " \x00"}, PLAIN, "no text that can be read in the part 'title'"),
        ({"title": []}, WHOLE, "no text that can be read in the part 'title'"),
        ({"dose": "1 mg"}, WHOLE, "'parts' has no part 'dose': its parts are title, condition, context"),
        (
            {"title": "a", "condition": "b"},
            local("title"),
            "'title' are compared by it alone: leave out 'condi",
        ),
    ],
)
def test_parts_that_cannot_be_compared_by_are_refused(
    parts: dict[str, Any], space: Space, message: str
) -> None:
    with pytest.raises(BodyError, match=message):
        text_of(parts, space)


def test_filters_hold_inside_the_search_for_neighbours() -> None:
    one, other = {"term": {"a": 1}}, {"term": {"b": 2}}
    body = nearest_body(target({"v": PLAIN}), "v", [1.0, 0.0, 0.0], [one, None, other], size=3)
    knn = {"vector": [1.0, 0.0, 0.0], "k": 100, "filter": {"bool": {"filter": [one, other]}}}
    assert body["query"] == {"knn": {"v": knn}}
    assert (body["size"], body["search_pipeline"]) == (3, "_none")
    assert body["_source"] == {"excludes": ["trifuse", "v"]}


def test_an_index_that_lacks_the_field_is_passed_over() -> None:
    body = nearest_body(target({"v": PLAIN}, {}), "v", [1.0, 0.0, 0.0], [], size=200)
    assert body["query"] == {"knn": {"v": {"vector": [1.0, 0.0, 0.0], "k": 200, "ignore_unmapped": True}}}


def test_without_a_knn_index_vectors_are_scored_one_by_one() -> None:
    body = nearest_body(target({"v": PLAIN}, knn=False), "v", [1.0, 0.0, 0.0], [], size=3)
    assert body["query"]["script_score"]["script"]["source"] == "knn_score"
