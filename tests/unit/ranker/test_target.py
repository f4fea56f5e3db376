from __future__ import annotations

from typing import Any

import pytest

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space
from trifuse.encoder.templates import TextTemplate
from trifuse.ranker.errors import BodyError
from trifuse.ranker.target import Target, check_collapse, index_expression, read_target

A, B = {"term": {"tenant": "a"}}, {"term": {"tenant": "b"}}
ENCODER = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")


def target(expression: str, **aliases: dict[str, Any]) -> Target:
    """Indices of those names, with aliases; a filter of None is an alias without one."""
    answer = {
        index: {
            "aliases": {name: {"filter": each} if each else {} for name, each in of.items()},
            "mappings": {},
        }
        for index, of in aliases.items()
    }
    return read_target(expression, answer)


def test_f16_a_filtered_alias() -> None:
    assert target("mine", i={"mine": A, "other": B}).alias_filter == A


def test_f16_the_index_itself_has_no_filter() -> None:
    assert target("i", i={"mine": A}).alias_filter is None
    assert target("mine,i", i={"mine": A}).alias_filter is None
    assert target("_all", i={"mine": A}).alias_filter is None
    assert target("*", i={"mine": A}).alias_filter is None


def test_f16_two_aliases_of_one_index_are_either() -> None:
    either = {"bool": {"should": [A, B], "minimum_should_match": 1}}
    assert target("x,y", i={"x": A, "y": B}).alias_filter == either
    assert target("tenant-*", i={"tenant-a": A, "tenant-b": B, "z": None}).alias_filter == either


def test_f16_one_alias_without_a_filter_lifts_them_all() -> None:
    assert target("x,y", i={"x": A, "y": None}).alias_filter is None


def test_f16_an_alias_with_a_filter_per_index() -> None:
    assert target("x", i={"x": A}, j={"x": A}).alias_filter == A
    assert target("x", i={"x": A}, j={"x": B}, k={"x": None}).alias_filter == {
        "bool": {
            "should": [
                {"bool": {"filter": [{"terms": {"_index": ["i"]}}, A]}},
                {"bool": {"filter": [{"terms": {"_index": ["j"]}}, B]}},
                {"terms": {"_index": ["k"]}},
            ],
            "minimum_should_match": 1,
        }
    }


def test_text_fields() -> None:
    properties = {
        "title": {"type": "text", "fields": {"raw": {"type": "keyword"}, "stem": {"type": "text"}}},
        "arm": {"properties": {"name": {"type": "text"}, "type": {"type": "keyword"}}},
        "headline": {"type": "alias", "path": "title"},
        "year": {"type": "integer"},
        "old": {"type": "alias", "path": "year"},
        "keyword": {"type": "text"},
    }
    found = read_target("i", {"i": {"mappings": {"properties": properties}}})
    assert found.fields >= {"title", "title.raw", "arm", "arm.type", "old"}
    assert found.text_fields == {"title", "title.stem", "arm.name", "headline", "keyword"}
    assert found.is_text("arm.name")
    assert not found.is_text("title.raw")
    assert found.is_text("arm.*")
    assert not found.is_text("arm.t*")


def test_f16_a_field_that_is_text_in_one_index_and_a_keyword_in_another() -> None:
    def mapped(**types: str) -> dict[str, Any]:
        return {"mappings": {"properties": {name: {"type": each} for name, each in types.items()}}}

    found = read_target("x", {"i": mapped(tenant="text", title="text"), "j": mapped(tenant="keyword")})
    verdicts = [found.is_text(field) for field in ("tenant", "title", "year", "ten*", "t*", "y*")]
    assert verdicts == [None, True, False, None, True, False]


def test_f11_collapse_on_a_field_that_is_nowhere() -> None:
    found = read_target("i", {"i": {"mappings": {"properties": {"group": {"type": "keyword"}}}}})
    check_collapse(None, found)
    check_collapse("group", found)
    with pytest.raises(BodyError, match="'groups'"):
        check_collapse("groups", found)


def spaced(*templates: TextTemplate | None) -> Target:
    return read_target(
        "i*",
        {
            f"i{n}": {"mappings": {"_meta": meta_with_space(None, "v", Space(ENCODER, each)) if each else {}}}
            for n, each in enumerate(templates)
        },
    )


def test_spaces_across_indices() -> None:
    found = spaced(TextTemplate(("title", "text")), None, TextTemplate(("text", "notes")))
    assert found.vector_fields() == ["v"]
    assert found.lacks("v") == ["i1"]
    assert found.template_fields("v") == ["title", "text", "notes"]
    assert found.space_of("w") is None


def test_another_space_is_refused_by_name() -> None:
    found = spaced(TextTemplate(("title",)))
    found.require_space("v", ENCODER)
    other = EncoderSpace("tiny", "r1", "int8", "cls", 3, True, "cosine")
    with pytest.raises(SpaceMismatch, match="'v' of the index 'i0'"):
        found.require_space("v", other)


@pytest.mark.parametrize(
    ("index", "expression"), [("a", "a"), ("a,b", "a,b"), (["a", "b-*"], "a,b-*"), ("_all", "_all")]
)
def test_expressions(index: Any, expression: str) -> None:
    assert index_expression(index) == expression


@pytest.mark.parametrize("index", ["", "a,-b", "<logs-{now/d}>", "other:a", ["a", ""], []])
def test_expressions_whose_filters_cannot_be_known(index: Any) -> None:
    with pytest.raises(BodyError, match="give names or patterns"):
        index_expression(index)


@pytest.mark.parametrize(("name", "one"), [("a", True), ("a,b", False), ("a*", False), ("_all", False)])
def test_clicks_belong_to_one_name(name: str, one: bool) -> None:
    assert read_target(name, {}).is_one_name is one


@pytest.mark.parametrize(
    ("named", "pipeline"),
    [
        ([None], None),
        (["_none"], None),
        (["p"], "p"),
        (["p", None], "p"),
        (["p", "p"], "p"),
        (["p", "q"], None),
        (["p", "_none"], None),
    ],
)
def test_the_default_pipeline_of_several_indices(named: list[str | None], pipeline: str | None) -> None:
    """As a server has it: `tests/integration/ranker/test_pipelines.py`."""
    settings = [{"index": {"search": {"default_pipeline": each}} if each else {}} for each in named]
    found = read_target("i", {str(n): {"settings": each} for n, each in enumerate(settings)})
    assert found.pipeline == pipeline


def of_fields(*names: str, serving: str | None = None) -> dict[str, Any]:
    meta: dict[str, Any] = {}
    for name in names:
        meta = meta_with_space(meta, name, Space(ENCODER, TextTemplate(("title",))))
    if serving:
        meta["trifuse"]["serving"] = serving
    return {"mappings": {"_meta": meta}}


def test_the_field_is_the_one_that_the_index_is_served_by() -> None:
    found = read_target("i", {"i": of_fields("v", "v_2", serving="v_2")})
    assert (found.serving, found.field_of(None), found.field_of("v")) == ("v_2", "v_2", "v")
    assert read_target("i", {"i": of_fields("v", "v_2")}).serving == "v"
    none = read_target("i", {"i": {"mappings": {}}})
    assert (none.serving, none.field_of(None)) == (None, "trifuse_vector")


def test_while_several_are_switched_the_older_field_of_all_is_served() -> None:
    before, after = of_fields("v", "v_2", serving="v"), of_fields("v", "v_2", serving="v_2")
    assert read_target("x", {"i": before, "j": after}).serving == "v"
    assert read_target("x", {"i": after, "j": before}).serving == "v"
    assert read_target("x", {"i": after, "j": after, "k": {"mappings": {}}}).serving == "v_2"


def test_where_no_field_is_of_all_one_of_those_served_is_taken() -> None:
    assert read_target("x", {"i": of_fields("v_2"), "j": of_fields("v")}).serving == "v"
    assert (
        read_target("x", {"i": of_fields("v", "v_2", serving="v_2"), "j": of_fields("v_2")}).serving == "v_2"
    )


def test_vectors_without_a_knn_index_are_exact() -> None:
    on, off = {"settings": {"index": {"knn": "true"}}}, {"settings": {"index": {"knn": "false"}}}
    assert not read_target("i", {"i": {**of_fields("v"), **on}}).is_exact("v")
    assert read_target("i", {"i": {**of_fields("v"), **off}}).is_exact("v")
    assert read_target("i", {"i": {**of_fields("v"), "settings": {"index": {}}}}).is_exact("v")
    mixed = read_target("x", {"i": {**of_fields("v"), **on}, "j": {**of_fields("v", "w"), **off}})
    assert mixed.is_exact("v") and mixed.is_exact("w")
    assert not read_target("x", {"i": {**of_fields("v"), **on}, "j": {"mappings": {}, **off}}).is_exact("v")


def test_what_trifuse_put_into_documents_is_hidden() -> None:
    assert read_target("i", {"i": of_fields("v", "w")}).hidden_fields() == ["trifuse", "v", "w"]
    assert read_target("i", {"i": {"mappings": {}}}).hidden_fields() == []


def test_sentences_and_what_they_are_of() -> None:
    answer = {
        "notes": {"mappings": {"_meta": {"trifuse": {"sentences": "notes-s"}}}},
        "notes-s": {"mappings": {"_meta": {"trifuse": {"of": {"index": "notes", "uuid": "u"}}}}},
        "bare": {"mappings": {"_meta": {"owner": 1}}},
        "odd": {"mappings": {"_meta": {"trifuse": "theirs"}}},
    }
    found = read_target("*", answer)
    assert found.sentences == {"notes": "notes-s", "notes-s": "notes-s"}
    assert found.parents == {"notes-s": "notes"}
