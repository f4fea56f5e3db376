"""The bodies of the indexes: strict, and every vector field with its engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from trifuse.encoder.spaces import EncoderSpace, Space, spaces_in_meta
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.mapping import (
    SENTENCE_FILTERS,
    TRIAL_FIELDS,
    index_body,
    marks_property,
    sentence_index,
    sentence_mapping,
    trial_mapping,
    vector_property,
)
from trifuse.indexer.state import state_body
from trifuse.indexer.trial import Trial

COSINE = Space(EncoderSpace("tiny", "r1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("text",)))
DOT = Space(EncoderSpace("tower", "r1", "fp32", "cls", 8, False, "dot"), TextTemplate(("text",)))
BODIES = {
    "trials": trial_mapping(COSINE),
    "sentences": sentence_mapping(DOT),
    "state": state_body(),
    "two vectors": index_body({}, spaces={"a": COSINE, "b": DOT}),
}


def _objects(properties: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for entry in properties.values():
        yield entry
        yield from _objects(entry.get("properties", {}))


@pytest.mark.parametrize("name", BODIES)
def test_every_vector_field_names_its_engine(name: str) -> None:
    """The default engine isn't in every distribution, and kills a node that lacks its libraries."""
    body = BODIES[name]
    vectors = [e for e in _objects(body["mappings"]["properties"]) if e.get("type") == "knn_vector"]
    assert all(entry["method"]["engine"] == "lucene" for entry in vectors)
    assert bool(vectors) == body["settings"]["index"].get("knn", False)


@pytest.mark.parametrize("name", BODIES)
def test_every_object_is_strict(name: str) -> None:
    mappings = BODIES[name]["mappings"]
    assert mappings["dynamic"] == "strict"
    objects = [e for e in _objects(mappings["properties"]) if "properties" in e]
    assert all(entry["dynamic"] == "strict" for entry in objects)


def test_a_trial_has_exactly_the_fields_of_its_record() -> None:
    assert set(TRIAL_FIELDS) == {field.name for field in msgspec.structs.fields(Trial)}


def test_nested_parts_of_a_trial_are_mapped() -> None:
    """Each list of objects has the parts of its record, so that strict mapping refuses none of them."""
    properties = trial_mapping(COSINE)["mappings"]["properties"]
    parts = {
        "interventions": {"type", "name", "description"},
        "arms": {"label", "type", "description"},
        "primary_outcomes": {"measure", "time_frame", "description"},
        "secondary_outcomes": {"measure", "time_frame", "description"},
        "references": {"pmid", "type", "citation"},
    }
    for field, expected in parts.items():
        assert set(properties[field]["properties"]) == expected


def test_sentences_repeat_filters_as_the_trial_has_them() -> None:
    trial, sentence = (body["mappings"]["properties"] for body in (BODIES["trials"], BODIES["sentences"]))
    for field in SENTENCE_FILTERS:
        assert sentence[field] == trial[field]
    assert {"parent_id", "section", "ordinal", "start", "end", "text", "trifuse_vector"} <= set(sentence)


def test_the_space_type_follows_the_similarity() -> None:
    assert vector_property(COSINE) == {
        "type": "knn_vector",
        "dimension": 4,
        "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
    }
    assert vector_property(DOT)["method"]["space_type"] == "innerproduct"


def test_meta_keeps_each_space_and_what_else_is_there() -> None:
    body = index_body({}, spaces={"a": COSINE, "b": DOT}, meta={"owner": "search"})
    meta = body["mappings"]["_meta"]
    assert meta["owner"] == "search"
    assert spaces_in_meta(meta) == {"a": COSINE, "b": DOT}


def test_marks_of_each_vector_field() -> None:
    marks = marks_property(("a", "b"))
    assert marks["properties"]["record"]["type"] == "keyword"
    for field in ("a", "b"):
        mark = marks["properties"]["fields"]["properties"][field]["properties"]
        assert {name: entry["type"] for name, entry in mark.items()} == {
            "space": "keyword",
            "hash": "keyword",
        }


def test_shards_and_replicas() -> None:
    index = trial_mapping(COSINE, shards=3)["settings"]["index"]
    assert index == {"number_of_shards": 3, "auto_expand_replicas": "0-1", "knn": True}


def test_name_of_the_sentence_index() -> None:
    assert sentence_index("trials") == "trials-trifuse-sentences"


def test_no_other_file_maps_vectors() -> None:
    """All indexes are made with `index_body`, so the tests above hold for each of them."""
    root = Path(__file__).parents[3]
    files = [
        file
        for folder in ("encoder", "indexer", "ranker", "worker", "deploy")
        for file in (root / folder).rglob("*.py")
    ]
    assert files
    mapping = [str(file.relative_to(root)) for file in files if '"knn_vector"' in file.read_text()]
    assert mapping == ["indexer/mapping.py"]
