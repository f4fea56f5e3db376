"""The body of a copy: a pure function of its source's settings and mapping, and of its vectors' space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trifuse.encoder.marks import MARKS
from trifuse.encoder.ours import meta_with
from trifuse.encoder.spaces import Space, meta_serving, meta_with_space, meta_without_space
from trifuse.indexer.behind import is_on
from trifuse.indexer.mapped import lost_fields
from trifuse.indexer.mapping import ENGINE, VECTOR, WHOLE, marks_property, vector_property
from trifuse.indexer.refresh import LOAD_INTERVAL

SOURCE = "source"
"""Beside the marks of a copied document: which version of the source's document it is."""

PIPELINES = ("index.default_pipeline", "index.final_pipeline")
"""Settings that a copy gets when it is switched to: copied documents went through them already."""

_PRIVATE = (
    "uuid",
    "creation_date",
    "creation_date_string",
    "provided_name",
    "version",
    "blocks",
    "resize",
    "shrink",
    "history",
    "remote_store",
    "verified_before_close",
    "routing.allocation.initial_recovery",
    "archived",
    "searchable_snapshot",
    "plugins.index_state_management.policy_id",
    "opendistro.index_state_management.policy_id",
)
_ENGINES_NAMED = ("method", "model_id", "mode", "compression_level")
_FIELDS_LIMIT = "index.mapping.total_fields.limit"
_OWN_FIELDS = 12
"""Fields that a copy has beyond its source's: the vector and the marks."""


def copy_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a copy, as flat names; no ingest pipeline runs in it, and k-NN is on.

    >>> copy_settings({"index.uuid": "x", "index.number_of_shards": "2"})["index.number_of_shards"]
    '2'
    """
    kept = {name: value for name, value in settings.items() if not _private(name) and name not in PIPELINES}
    if kept.get("index.refresh_interval") == LOAD_INTERVAL:
        del kept["index.refresh_interval"]
    if kept.get("index.store.type") == "remote_snapshot":
        del kept["index.store.type"]
    limit = int(kept.get(_FIELDS_LIMIT, 1_000)) + _OWN_FIELDS
    # An index template that fits the copy's name may bring pipelines: naming them keeps these away.
    return {**kept, **dict.fromkeys(PIPELINES, "_none"), "index.knn": "true", _FIELDS_LIMIT: str(limit)}


def _private(name: str) -> bool:
    bare = name.removeprefix("index.")
    return any(bare == prefix or bare.startswith(f"{prefix}.") for prefix in _PRIVATE)


def copy_properties(
    entry: Mapping[str, Any], field: str, space: Space, drop: Sequence[str] = ()
) -> dict[str, Any]:
    """The source's fields, with the vector field and the marks, without the vector fields in `drop`.

    Args:
        entry: the source as `GET /index?flat_settings=true` tells it.
    """
    properties: Mapping[str, Any] = entry["mappings"].get("properties") or {}
    kept = {name: value for name, value in properties.items() if name not in drop}
    if not is_on(entry["settings"].get("index.knn")):
        kept = _with_engines(kept)
    marks = dict(kept.get(MARKS) or {})
    inner = {**marks_property([field])["properties"], **(marks.get("properties") or {})}
    others = (inner["fields"].get("properties") or {}).items()
    fields = {name: value for name, value in others if name not in drop}
    own = marks_property([*(name for name in fields if name != field), field])["properties"]["fields"]
    inner["fields"] = own
    inner[SOURCE] = {"type": "object", "enabled": False}
    kept[MARKS] = {"type": "object", "dynamic": "strict", **marks, "properties": inner}
    kept[field] = vector_property(space)
    return kept


def _with_engines(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Vector fields of an index without k-NN, where they name no engine, as an index with k-NN has them.

    OpenSearch's own default may be missing from the server. Lucene keeps any vector by the L2 distance.
    """
    return {name: _with_engine(value) for name, value in properties.items()}


def _with_engine(mapping: Mapping[str, Any]) -> dict[str, Any]:
    if "properties" in mapping:
        return {**mapping, "properties": _with_engines(mapping["properties"])}
    is_bare = mapping.get("type") == VECTOR and not set(_ENGINES_NAMED) & set(mapping)
    if not is_bare or mapping.get("data_type") == "binary":  # which is the default engine's alone
        return dict(mapping)
    method = {"name": "hnsw", "engine": ENGINE, **({} if "space_type" in mapping else {"space_type": "l2"})}
    return {**mapping, "method": method}


def own_properties(properties: Mapping[str, Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a copy as its source can have them: a vector field that the source has stays as it is there.

    >>> own_properties({"v": {"type": VECTOR, "method": {}}}, {"v": {"type": VECTOR}})
    {'v': {'type': 'knn_vector'}}
    """
    return {name: _own(value, source.get(name) or {}) for name, value in properties.items()}


def _own(mapping: Mapping[str, Any], there: Mapping[str, Any]) -> dict[str, Any]:
    if there.get("type") == VECTOR:
        return dict(there)
    if "properties" not in mapping:
        return dict(mapping)
    return {**mapping, "properties": own_properties(mapping["properties"], there.get("properties") or {})}


def copy_meta(
    meta: Mapping[str, Any] | None,
    field: str,
    space: Space,
    drop: Sequence[str] = (),
    *,
    of: Mapping[str, str],
) -> dict[str, Any]:
    """The source's `_meta` with the copy's space, which queries go by; `of` names the source."""
    merged = meta_serving(meta_with_space(meta, field, space), field)
    for name in drop:
        if name != field:
            merged = meta_without_space(merged, name)
    return meta_with(merged, "copy", dict(of))


def copy_body(
    entry: Mapping[str, Any], field: str, space: Space, drop: Sequence[str] = (), *, of: Mapping[str, str]
) -> dict[str, Any]:
    """The body that makes the copy.

    Args:
        entry: the source as `GET /index?flat_settings=true` tells it.
        field, space: the vector field that the copy is made for.
        drop: vector fields of ours that the copy doesn't have.
        of: what the copy's `_meta` says of its source.
    """
    mapping: Mapping[str, Any] = entry["mappings"]
    return {
        "settings": copy_settings(entry["settings"]),
        "mappings": {
            **WHOLE,
            **mapping,
            # Whatever _source lacks isn't searched: a filter could only take our own fields out of it.
            "_source": {},
            "_meta": copy_meta(mapping.get("_meta"), field, space, drop, of=of),
            "properties": copy_properties(entry, field, space, drop),
        },
    }


def source_fault(mapping: Mapping[str, Any]) -> str | None:
    """Why an index with this mapping can't be copied from its `_source`; None where it can.

    >>> source_fault({"_source": {"enabled": False}})
    'its _source is disabled'
    """
    if not is_on((mapping.get("_source") or {}).get("enabled", True)):
        return "its _source is disabled"
    lost = lost_fields(mapping)
    return f"its _source lacks fields that are searched: {', '.join(lost)}" if lost else None
