"""The bodies of the indexes that trifuse makes: what each field is, and which engine searches its vectors.

Lists of objects (`interventions`, `arms`, the outcomes, `references`) are plain objects: OpenSearch flattens
them, so `interventions.type: DRUG` and `interventions.name: x` may be met by two interventions of one trial.
In return a trial is one Lucene document, and a partial update that writes its vector rewrites only that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.spaces import Space, meta_with_space

ENGINE = "lucene"
"""Named in every mapping: OpenSearch's default where none is named may be missing from the distribution."""

VECTOR = "knn_vector"
"""The type of vector fields."""

_SPACE_TYPES = {"cosine": "cosinesimil", "dot": "innerproduct"}
_KEYWORD: dict[str, Any] = {"type": "keyword", "ignore_above": 1024}
_TEXT: dict[str, Any] = {"type": "text", "analyzer": "english"}
_NAMED: dict[str, Any] = {**_TEXT, "fields": {"keyword": _KEYWORD}}
_DATE: dict[str, Any] = {"type": "date", "format": "yyyy-MM-dd||yyyy-MM||yyyy"}


def _object(**properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "dynamic": "strict", "properties": properties}


_OUTCOME = _object(measure=_TEXT, time_frame=_TEXT, description=_TEXT)

_TRIAL_PROPERTIES: dict[str, Any] = {
    "nct_id": _KEYWORD,
    "brief_title": _TEXT,
    "official_title": _TEXT,
    "acronym": _NAMED,
    "brief_summary": _TEXT,
    "detailed_description": _TEXT,
    "conditions": _NAMED,
    "interventions": _object(type=_KEYWORD, name=_NAMED, description=_TEXT),
    "arms": _object(label=_TEXT, type=_KEYWORD, description=_TEXT),
    "primary_outcomes": _OUTCOME,
    "secondary_outcomes": _OUTCOME,
    "eligibility": _TEXT,
    "inclusion_criteria": _TEXT,
    "exclusion_criteria": _TEXT,
    "sex": _KEYWORD,
    "minimum_age": _KEYWORD,
    "maximum_age": _KEYWORD,
    "healthy_volunteers": {"type": "boolean"},
    "keywords": _NAMED,
    "condition_mesh": _NAMED,
    "intervention_mesh": _NAMED,
    "phases": _KEYWORD,
    "status": _KEYWORD,
    "why_stopped": _TEXT,
    "study_type": _KEYWORD,
    "enrollment": {"type": "integer"},
    "start_date": _DATE,
    "completion_date": _DATE,
    "sponsor": _NAMED,
    "sponsor_class": _KEYWORD,
    "countries": _KEYWORD,
    "references": _object(pmid=_KEYWORD, type=_KEYWORD, citation=_TEXT),
}

WHOLE: Mapping[str, Any] = {"_source": {}, "_routing": {"required": False}}
"""Named in every mapping: an index template of somebody's that fits the name would filter or require more."""

TRIAL_FIELDS = tuple(_TRIAL_PROPERTIES)
"""The fields of a trial's document, without the vector and the marks."""

SENTENCE_FILTERS = (
    "conditions",
    "condition_mesh",
    "intervention_mesh",
    "keywords",
    "phases",
    "status",
    "study_type",
    "sex",
    "minimum_age",
    "maximum_age",
    "healthy_volunteers",
    "enrollment",
    "start_date",
    "completion_date",
    "sponsor",
    "sponsor_class",
    "countries",
)
"""Fields of a trial that its sentences repeat under the same names and types: one filter fits both."""


def vector_property(space: Space, *, exact: bool = False) -> dict[str, Any]:
    """The mapping of a field whose vectors are in `space`: `(dimension,) float32`.

    Args:
        exact: without a graph: an index without k-NN refuses a method, and needs none.
    """
    bare = {"type": VECTOR, "dimension": space.encoder.dimension}
    if exact:
        return bare
    method = {"name": "hnsw", "engine": ENGINE, "space_type": _SPACE_TYPES[space.encoder.similarity]}
    return {**bare, "method": method}


def marks_property(fields: Iterable[str] = (VECTOR_FIELD,)) -> dict[str, Any]:
    """The mapping of the object `trifuse`: the record's hash; per vector field its space and text hash."""
    mark = _object(space=_KEYWORD, hash=_KEYWORD)
    return _object(record=_KEYWORD, fields=_object(**dict.fromkeys(fields, mark)))


def index_body(
    properties: Mapping[str, Any],
    *,
    spaces: Mapping[str, Space] | None = None,
    shards: int = 1,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The body of an index of ours: strict, and with vectors, marks and `_meta` where it has `spaces`.

    Args:
        properties: the fields, without the vectors and the marks.
        spaces: vector field to its space; without any the index has no k-NN.
        shards: primary shards. Replicas follow the number of nodes (none on one node, else one).
        meta: more of `_meta`.
    """
    spaces = spaces or {}
    full: dict[str, Any] = dict(properties)
    merged: dict[str, Any] = dict(meta or {})
    for field, space in spaces.items():
        full[field] = vector_property(space)
        merged = meta_with_space(merged, field, space)
    settings: dict[str, Any] = {"number_of_shards": shards, "auto_expand_replicas": "0-1"}
    if spaces:
        full[MARKS] = marks_property(spaces)
        settings["knn"] = True
    mappings: dict[str, Any] = {"dynamic": "strict", **WHOLE, "properties": full}
    if merged:
        mappings["_meta"] = merged
    return {"settings": {"index": settings}, "mappings": mappings}


def trial_mapping(space: Space, *, shards: int = 1) -> dict[str, Any]:
    """The body of an index of trials, whose vectors are in `space`."""
    return index_body(_TRIAL_PROPERTIES, spaces={VECTOR_FIELD: space}, shards=shards)


def sentence_mapping(
    space: Space, *, filters: Mapping[str, Any] | None = None, shards: int = 1
) -> dict[str, Any]:
    """The body of an index of sentences, one document a sentence.

    `ordinal` counts the sentences of a section from 0; `start` and `end` are offsets in code points into the
    parent's field that the section is a part of (`eligibility` of `eligibility.inclusion`), or into its text
    number `item` where the field holds several.

    Args:
        filters: the properties of the parent's fields that its sentences repeat; None are a trial's.
    """
    if filters is None:
        filters = {field: _TRIAL_PROPERTIES[field] for field in SENTENCE_FILTERS}
    properties = {
        "parent_id": _KEYWORD,
        "parent_routing": _KEYWORD,
        "section": _KEYWORD,
        "item": {"type": "integer"},
        "ordinal": {"type": "integer"},
        "start": {"type": "integer"},
        "end": {"type": "integer"},
        "text": _TEXT,
        **filters,
    }
    body = index_body(properties, spaces={VECTOR_FIELD: space}, shards=shards)
    # An owner's template may fit the name, and sentences are no documents of the owner's.
    body["settings"]["index"] |= {"default_pipeline": "_none", "final_pipeline": "_none"}
    return body


def sentence_index(index: str) -> str:
    """The name of the index of the sentences of `index`."""
    return f"{index}-trifuse-sentences"
