"""The copy's body and aliases, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.encoder.spaces import EncoderSpace, Space, meta_with_space, serving_field, spaces_in_meta
from trifuse.encoder.templates import TextTemplate
from trifuse.indexer.copying.aliases import moves
from trifuse.indexer.copying.body import (
    copy_body,
    copy_properties,
    copy_settings,
    own_properties,
    source_fault,
)

OLD = Space(EncoderSpace("old", "1", "fp32", "cls", 3, True, "cosine"), TextTemplate(("title",)))
NEW = Space(EncoderSpace("new", "1", "fp32", "cls", 4, True, "cosine"), TextTemplate(("title",)))
OF = {"source": "trials", "uuid": "u", "alias": "live", "field": "trifuse_vector_2", "drop": "trifuse_vector"}


def test_settings_that_belong_to_the_source_alone_stay_with_it() -> None:
    """Analysis and shards go along; identity, blocks and pipelines don't; k-NN is on; room for our fields."""
    assert copy_settings(
        {
            "index.uuid": "u",
            "index.creation_date": "1",
            "index.provided_name": "trials",
            "index.version.created": "1",
            "index.blocks.write": "true",
            "index.resize.source.name": "x",
            "index.resize.copy_settings": "true",
            "index.routing.allocation.initial_recovery._id": "n",
            "index.history.uuid": "h",
            "index.verified_before_close": "true",
            "index.remote_store.enabled": "true",
            "index.searchable_snapshot.repository": "r",
            "index.store.type": "remote_snapshot",
            "archived.index.lifecycle.name": "p",
            "index.plugins.index_state_management.policy_id": "p",
            "index.opendistro.index_state_management.policy_id": "p",
            "index.plugins.index_state_management.rollover_alias": "live",
            "index.number_of_routing_shards": "12",
            "index.routing_partition_size": "2",
            "index.routing.allocation.require._name": "n",
            "index.hidden": "true",
            "index.sort.field": ["n"],
            "index.default_pipeline": "p",
            "index.refresh_interval": "30001ms",
            "index.mapping.total_fields.limit": "50",
            "index.number_of_shards": "3",
            "index.analysis.filter.s.stopwords": ["a", "b"],
        }
    ) == {
        "index.default_pipeline": "_none",
        "index.final_pipeline": "_none",
        "index.knn": "true",
        "index.mapping.total_fields.limit": "62",
        "index.number_of_shards": "3",
        "index.analysis.filter.s.stopwords": ["a", "b"],
        "index.plugins.index_state_management.rollover_alias": "live",
        "index.number_of_routing_shards": "12",
        "index.routing_partition_size": "2",
        "index.routing.allocation.require._name": "n",
        "index.hidden": "true",
        "index.sort.field": ["n"],
    }
    assert copy_settings({"index.store.type": "niofs"})["index.store.type"] == "niofs"


_BARE = {"type": "knn_vector", "dimension": 3}
_L2 = {"name": "hnsw", "engine": "lucene", "space_type": "l2"}


@pytest.mark.parametrize(
    ("knn", "vector", "wanted"),
    [
        (None, _BARE, {**_BARE, "method": _L2}),
        ("false", {**_BARE, "data_type": "byte"}, {**_BARE, "data_type": "byte", "method": _L2}),
        (
            "false",
            {**_BARE, "space_type": "innerproduct"},
            {**_BARE, "space_type": "innerproduct", "method": {"name": "hnsw", "engine": "lucene"}},
        ),
        ("false", {**_BARE, "data_type": "binary"}, {**_BARE, "data_type": "binary"}),
        ("false", {**_BARE, "method": {"engine": "faiss"}}, {**_BARE, "method": {"engine": "faiss"}}),
        ("false", {**_BARE, "mode": "on_disk"}, {**_BARE, "mode": "on_disk"}),
        ("true", _BARE, _BARE),
    ],
)
def test_vector_fields_of_a_source_without_knn_name_an_engine(
    knn: str | None, vector: dict[str, Any], wanted: dict[str, Any]
) -> None:
    """At the top and below objects; on the way back the source keeps its own."""
    settings = {} if knn is None else {"index.knn": knn}
    properties = {"v": vector, "deep": {"properties": {"v": vector, "n": {"type": "long"}}}}
    entry = {"settings": settings, "mappings": {"properties": properties}}
    made = copy_properties(entry, "trifuse_vector_2", NEW)
    assert (made["v"], made["deep"]["properties"]["v"]) == (wanted, wanted)
    back = own_properties({**made, "new": {"type": "keyword"}}, properties)
    assert {name: back[name] for name in ("v", "deep", "new")} == {**properties, "new": {"type": "keyword"}}


@pytest.mark.parametrize("dynamic", ["strict", "false", "true", "strict_allow_templates", None])
def test_mapping_gets_the_vector_and_loses_the_old_one(dynamic: str | None) -> None:
    """A source embedded in place before: the old field and its marks go, everything else stays."""
    meta: dict[str, Any] = meta_with_space({"owner": 1}, "trifuse_vector", OLD)
    meta["trifuse"]["sentences"] = "trials-trifuse-sentences"
    mark = {"type": "object", "dynamic": "strict", "properties": {"space": {"type": "keyword"}}}
    mappings = {
        **({} if dynamic is None else {"dynamic": dynamic}),
        "_routing": {"required": True},
        "_meta": meta,
        "properties": {
            "title": {"type": "text"},
            "trifuse_vector": {"type": "knn_vector", "dimension": 3},
            "trifuse": {
                "dynamic": "strict",
                "properties": {
                    "record": {"type": "keyword", "ignore_above": 9},
                    "fields": {"dynamic": "strict", "properties": {"trifuse_vector": mark}},
                },
            },
        },
    }
    body = copy_body(
        {"settings": {}, "mappings": mappings}, "trifuse_vector_2", NEW, ["trifuse_vector"], of=OF
    )
    made = body["mappings"]
    assert made.get("dynamic") == dynamic
    assert made["_routing"] == {"required": True}
    assert set(made["properties"]) == {"title", "trifuse", "trifuse_vector_2"}
    assert made["properties"]["trifuse_vector_2"]["dimension"] == 4
    marks = made["properties"]["trifuse"]["properties"]
    assert set(marks) == {"record", "fields", "source"}
    assert marks["record"] == {"type": "keyword", "ignore_above": 9}
    assert set(marks["fields"]["properties"]) == {"trifuse_vector_2"}
    assert spaces_in_meta(made["_meta"]) == {"trifuse_vector_2": NEW}
    assert serving_field(made["_meta"]) == "trifuse_vector_2"
    assert made["_meta"]["owner"] == 1
    assert made["_meta"]["trifuse"]["sentences"] == "trials-trifuse-sentences"
    assert made["_meta"]["trifuse"]["copy"] == OF
    assert mappings["properties"]["trifuse_vector"]["dimension"] == 3, "the source's entry is left alone"


def test_a_source_that_lacks_part_of_its_documents() -> None:
    """Disabled, filtered, whole."""
    assert source_fault({"_source": {"enabled": False}}) == "its _source is disabled"
    properties = {"body": {"type": "text"}}
    fault = source_fault({"_source": {"excludes": ["body"]}, "properties": properties})
    assert fault == "its _source lacks fields that are searched: body"
    assert source_fault({"_source": {}}) is None
    assert source_fault({}) is None


def test_a_source_that_keeps_some_fields_only() -> None:
    """The copy has no such filter, which would take ours out."""
    entry = {"settings": {}, "mappings": {"_source": {"includes": ["title"]}}}
    assert copy_body(entry, "trifuse_vector", NEW, of=OF)["mappings"]["_source"] == {}


def test_all_aliases_move_with_what_they_have() -> None:
    """In one list; an alias that stood for nothing is made."""
    few = {"filter": {"term": {"n": 3}}, "index_routing": "a", "search_routing": "a,b"}
    assert moves(
        {"live": {"is_write_index": True}, "few": few}, old="a", new="b", alias="live", door="d"
    ) == [
        {"remove": {"index": "b", "alias": "d", "must_exist": True}},
        {"remove": {"index": "a", "alias": "live", "must_exist": True}},
        {"add": {"index": "b", "alias": "live", "is_write_index": True}},
        {"remove": {"index": "a", "alias": "few", "must_exist": True}},
        {"add": {"index": "b", "alias": "few", **few}},
    ]
