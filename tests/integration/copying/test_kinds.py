"""Indexes of many kinds: the copy has the same documents, finds the same, and has the right settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from opensearchpy import OpenSearch
from opensearchpy.helpers import scan

from trifuse.encoder.marks import MARKS, VECTOR_FIELD
from trifuse.encoder.spaces import Space
from trifuse.indexer.copying import Copy, begin, catch_up, complete, roll_back, switch
from trifuse.indexer.errors import CopyRefused
from trifuse.indexer.follow import Patience
from trifuse.indexer.hints import Enqueue
from trifuse.indexer.reading import count_documents

QUICK = Patience(poll_s=0.05, longest_poll_s=0.1)
TITLE = {"title": {"type": "text"}}
Document = tuple[str, str | None, Mapping[str, Any]]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """An index, a search that has to find the same in its copy, and its copy's settings.

    Args:
        documents: id, routing and body of each.
        query, found: a search, and the ids that it finds.
        kept: settings that the copy has, by flat name without `index.`.
        dropped: settings that it lacks.
    """

    settings: Mapping[str, Any] = {}
    mappings: Mapping[str, Any] = msgspec.field(default_factory=lambda: {"properties": TITLE})
    documents: Sequence[Document] = tuple((str(n), None, {"title": f"title {n}"}) for n in range(12))
    query: Mapping[str, Any] = msgspec.field(default_factory=lambda: {"match": {"title": "3"}})
    found: Sequence[str] = ("3",)
    kept: Mapping[str, Any] = {}
    dropped: Sequence[str] = ()


_LONG = tuple((letter * 511 + "é"[: letter == "z"], None, {"title": letter}) for letter in "abc")
_COMMENTS = [{"by": "ann", "stars": 1}, {"by": "bo", "stars": 5}]
_SYNONYMS = {
    "filter": {"syn": {"type": "synonym_graph", "synonyms": ["gout, podagra"]}},
    "analyzer": {"mine": {"tokenizer": "standard", "filter": ["lowercase", "syn"]}},
    "normalizer": {"low": {"type": "custom", "filter": ["lowercase"]}},
}

KINDS = {
    "nested documents": Kind(
        mappings={"properties": {**TITLE, "comments": {"type": "nested"}}},
        documents=[("1", None, {"title": "a", "comments": _COMMENTS}), ("2", None, {"title": "b"})],
        query={
            "nested": {
                "path": "comments",
                "query": {
                    "bool": {
                        "must": [{"match": {"comments.by": "bo"}}, {"term": {"comments.stars": 5}}],
                    }
                },
            }
        },
        found=["1"],
    ),
    "routing required": Kind(
        settings={"number_of_shards": 3},
        mappings={"_routing": {"required": True}, "properties": TITLE},
        documents=[
            *((str(n), f"r{n}", {"title": f"title {n}"}) for n in range(8)),
            *(("same", f"r{n}", {"title": f"same as {n}"}) for n in (0, 3, 5)),
        ],
        found=["3", "same"],
    ),
    "routing partitions": Kind(
        settings={"number_of_shards": 4, "routing_partition_size": 2, "number_of_routing_shards": 8},
        mappings={"_routing": {"required": True}, "properties": TITLE},
        documents=[(str(n), f"r{n % 3}", {"title": f"title {n}"}) for n in range(20)],
        kept={"routing_partition_size": "2", "number_of_routing_shards": "8", "number_of_shards": "4"},
    ),
    "join field": Kind(
        settings={"number_of_shards": 2},
        mappings={"properties": {**TITLE, "kind": {"type": "join", "relations": {"question": "answer"}}}},
        documents=[
            ("q", "q", {"title": "parent", "kind": "question"}),
            *((f"a{n}", "q", {"title": f"{n}", "kind": {"name": "answer", "parent": "q"}}) for n in range(3)),
        ],
        query={"has_child": {"type": "answer", "query": {"match": {"title": "2"}}}},
        found=["q"],
    ),
    "copy_to, completion and other field types": Kind(
        mappings={
            "properties": {
                "title": {"type": "text", "copy_to": "all", "fields": {"raw": {"type": "keyword"}}},
                "all": {"type": "text"},
                "suggest": {"type": "completion"},
                "named": {"type": "alias", "path": "title"},
                "flat": {"type": "flat_object"},
                "rank": {"type": "rank_features"},
                "when": {"type": "date", "format": "yyyy-MM-dd||epoch_millis"},
                "where": {"type": "geo_point"},
                "span": {"type": "integer_range"},
                "file": {"type": "binary"},
                "off": {"type": "object", "enabled": False},
            }
        },
        documents=[
            (
                "1",
                None,
                {
                    "title": ["Gout", None],
                    "suggest": {"input": ["gout", "podagra"], "weight": 3},
                    "flat": {"a": {"b": [1, "x"]}},
                    "rank": {"one": 1.5},
                    "when": "2020-02-29",
                    "where": {"lat": 1, "lon": 2},
                    "span": {"gte": 1, "lt": 5},
                    "file": "aGk=",
                    "off": {"anything": [{"goes": 1}, 2]},
                },
            ),
            ("2", None, {}),
        ],
        query={"bool": {"must": [{"match": {"all": "gout"}}, {"match": {"named": "gout"}}]}},
        found=["1"],
    ),
    "synonyms and analysers": Kind(
        settings={"analysis": _SYNONYMS},
        mappings={
            "properties": {
                "title": {"type": "text", "analyzer": "standard", "search_analyzer": "mine"},
                "code": {"type": "keyword", "normalizer": "low"},
            }
        },
        documents=[("1", None, {"title": "Podagra", "code": "AB"}), ("2", None, {"title": "Other"})],
        query={"bool": {"must": [{"match": {"title": "gout"}}, {"term": {"code": "ab"}}]}},
        found=["1"],
        kept={"analysis.filter.syn.type": "synonym_graph"},
    ),
    "sorted": Kind(
        settings={"sort.field": ["n", "kind"], "sort.order": ["desc", "asc"]},
        mappings={"properties": {**TITLE, "n": {"type": "long"}, "kind": {"type": "keyword"}}},
        documents=[(str(n), None, {"title": f"title {n}", "n": n % 5, "kind": "k"}) for n in range(30)],
        kept={"sort.field": ["n", "kind"], "sort.order": ["desc", "asc"]},
    ),
    "vectors without k-NN": Kind(
        mappings={
            "properties": {**TITLE, "v": {"type": "knn_vector", "dimension": 2}},
        },
        documents=[("1", None, {"title": "a", "v": [0, 0]}), ("2", None, {"title": "b", "v": [3, 4]})],
        query={
            "script_score": {
                "query": {"match_all": {}},
                "script": {
                    "lang": "knn",
                    "source": "knn_score",
                    "params": {"field": "v", "query_value": [3, 4], "space_type": "l2"},
                },
                "min_score": 0.5,
            }
        },
        found=["2"],
        kept={"knn": "true"},
    ),
    "longest ids": Kind(documents=_LONG, query={"match": {"title": "b"}}, found=["b" * 511]),
    "odd ids and routings": Kind(
        settings={"number_of_shards": 2},
        documents=[
            ("a/b?c=#", None, {"title": "1"}),
            ('π " \\ ,', "r,s", {"title": "2"}),
            ("_x", " ", {"title": "3"}),
            ("*", "é\n", {"title": "4"}),
        ],
        found=["_x"],
    ),
    "hidden": Kind(settings={"hidden": True}, kept={"hidden": "true"}),
    "few hits at a time": Kind(
        settings={"max_result_window": 5, "max_script_fields": 0},
        kept={"max_result_window": "5"},
    ),
    "few fields allowed": Kind(
        settings={"mapping.total_fields.limit": 3},
        kept={"mapping.total_fields.limit": "15"},
    ),
    "dynamic templates": Kind(
        mappings={
            "dynamic": "strict_allow_templates",
            "date_detection": False,
            "dynamic_templates": [{"n": {"match": "n_*", "mapping": {"type": "integer"}}}],
            "properties": TITLE,
        },
        documents=[("1", None, {"title": "a", "n_1": 3})],
        query={"range": {"n_1": {"gte": 3}}},
        found=["1"],
    ),
    "settings of every sort": Kind(
        settings={
            "refresh_interval": "-1",
            "codec": "best_compression",
            "auto_expand_replicas": "0-1",
            "translog.durability": "async",
            "mapping.nested_objects.limit": 77,
            "mapping.ignore_malformed": True,
            "routing.allocation.exclude._name": "no-such-node",
            "query.default_field": "title",
            "search.slowlog.threshold.query.warn": "10s",
            "priority": 7,
        },
        kept={
            "refresh_interval": "-1",
            "codec": "best_compression",
            "auto_expand_replicas": "0-1",
            "translog.durability": "async",
            "mapping.nested_objects.limit": "77",
            "mapping.ignore_malformed": "true",
            "routing.allocation.exclude._name": "no-such-node",
            "query.default_field": "title",
            "priority": "7",
        },
        dropped=["blocks.write", "resize.source.name"],
    ),
}


def _documents(client: OpenSearch, index: str) -> dict[tuple[str, str | None], dict[str, Any]]:
    """The owner's part of each document, by id and routing."""
    client.indices.refresh(index=index)
    hits = scan(client, index=index, size=5, search_pipeline="_none")
    ours = (MARKS, VECTOR_FIELD)
    return {
        (hit["_id"], hit.get("_routing")): {k: v for k, v in hit["_source"].items() if k not in ours}
        for hit in hits
    }


def _write(client: OpenSearch, index: str, documents: Sequence[Document]) -> None:
    for doc_id, routing, body in documents:
        client.index(index=index, id=doc_id, body=body, **({"routing": routing} if routing else {}))
    client.indices.refresh(index=index)


def _found(client: OpenSearch, index: str, query: Mapping[str, Any]) -> list[str]:
    hits = client.search(index=index, body={"query": query, "size": 5})["hits"]["hits"]
    return sorted(hit["_id"] for hit in hits)


def _settings(client: OpenSearch, index: str) -> dict[str, Any]:
    found = client.indices.get_settings(index=index, params={"flat_settings": "true"})[index]["settings"]
    return {name.removeprefix("index."): value for name, value in found.items()}


@pytest.mark.parametrize("name", KINDS)
def test_a_copy_of_an_index_with(client: OpenSearch, index_name: str, space: Space, name: str) -> None:
    kind = KINDS[name]
    settings = {"number_of_shards": 1, "number_of_replicas": 0, **kind.settings}
    if "auto_expand_replicas" in settings:
        del settings["number_of_replicas"]
    client.indices.create(index=index_name, body={"settings": settings, "mappings": kind.mappings})
    _write(client, index_name, kind.documents)
    assert _found(client, index_name, kind.query) == list(kind.found)
    copy = begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))
    assert catch_up(client, copy).written == len(kind.documents)
    assert _documents(client, copy.index) == _documents(client, index_name)
    assert len(_documents(client, copy.index)) == len(kind.documents)
    assert _found(client, copy.index, kind.query) == list(kind.found)
    has = _settings(client, copy.index)
    assert {key: has.get(key) for key in kind.kept} == kind.kept
    assert not [key for key in kind.dropped if key in has]
    doc_id, routing, _ = kind.documents[0]
    client.delete(index=index_name, id=doc_id, **({"routing": routing} if routing else {}))
    assert catch_up(client, copy).deleted == 1
    assert _documents(client, copy.index) == _documents(client, index_name)


def test_a_copy_of_an_index_that_was_split(client: OpenSearch, index_name: str, space: Space) -> None:
    """It has settings of its making, and a write block, that no new index can be given."""
    whole = f"{index_name}-whole"
    client.indices.create(
        index=whole, body={"settings": {"number_of_shards": 1, "number_of_routing_shards": 4}}
    )
    _write(client, whole, KINDS["hidden"].documents)
    client.indices.add_block(index=whole, block="write")
    client.indices.split(index=whole, target=index_name, body={"settings": {"index.number_of_shards": 2}})
    had = _settings(client, index_name)
    assert had["resize.source.name"] == whole
    assert had["blocks.write"] == "true"
    copy = begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))
    assert catch_up(client, copy).written == 12
    assert _documents(client, copy.index) == _documents(client, whole)
    has = _settings(client, copy.index)
    assert has["number_of_shards"] == "2"
    assert not [key for key in has if key.startswith(("resize.", "blocks."))]
    assert has["uuid"] != had["uuid"]
    assert has["provided_name"] == copy.index


@pytest.mark.parametrize("block", ["write", "read_only_allow_delete", "read_only"])
def test_a_blocked_source_is_copied(client: OpenSearch, index_name: str, space: Space, block: str) -> None:
    """The copy takes writes; deletions, where the block lets them be, arrive."""
    client.indices.create(index=index_name)
    _write(client, index_name, KINDS["hidden"].documents)
    client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": True})
    try:
        copy = begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))
        assert catch_up(client, copy).written == 12
        assert _documents(client, copy.index) == _documents(client, index_name)
        assert not [key for key in _settings(client, copy.index) if key.startswith("blocks.")]
    finally:
        client.indices.put_settings(index=index_name, body={f"index.blocks.{block}": None})


def test_a_closed_source_is_refused(client: OpenSearch, index_name: str, space: Space) -> None:
    """It can't be read; nothing is made."""
    client.indices.create(index=index_name)
    client.indices.close(index=index_name)
    with pytest.raises(CopyRefused, match=rf"{index_name}' is closed.*open it"):
        begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))
    assert not client.indices.exists(index=f"{index_name}-trifuse-2")


def test_the_last_edits_of_an_index_that_writes_its_log_late(
    client: OpenSearch, begun: Copy, live: str, enqueue: Enqueue
) -> None:
    """Its checkpoints are up to half a minute behind: a switch, and a way back, take along what came last."""
    settings = {"index.translog.durability": "async", "index.translog.sync_interval": "60s"}
    for index in (begun.source, begun.index):
        client.indices.put_settings(index=index, body=settings)
    complete(client, begun, enqueue, patience=QUICK, switch=False)
    client.index(index=live, id="1", body={"title": "the last before"})
    switch(client, begun)
    assert client.get(index=begun.index, id="1")["_source"]["title"] == "the last before"
    client.index(index=live, id="2", body={"title": "the last after"})
    assert roll_back(client, live).written == 1
    assert client.get(index=begun.source, id="2")["_source"] == {"title": "the last after"}


def test_a_search_pipeline_of_the_source_hides_nothing(
    client: OpenSearch, index_name: str, space: Space
) -> None:
    """One that filters every search, and renames what it shows: the copy has all, and is counted rightly."""
    processors = {
        "request_processors": [{"filter_query": {"query": {"match": {"title": "3"}}}}],
        "response_processors": [{"rename_field": {"field": "title", "target_field": "other"}}],
    }
    client.transport.perform_request("PUT", f"/_search/pipeline/{index_name}", body=processors)
    try:
        client.indices.create(
            index=index_name, body={"settings": {"index.search.default_pipeline": index_name}}
        )
        _write(client, index_name, KINDS["hidden"].documents)
        copy = begin(client, index_name, alias=f"{index_name}-dense", space_field=(VECTOR_FIELD, space))
        caught = catch_up(client, copy)
        assert caught.written == 12
        assert (count_documents(client, index_name), count_documents(client, copy.index)) == (12, 12)
        assert _documents(client, copy.index) == {(d, r): body for d, r, body in KINDS["hidden"].documents}
        assert _settings(client, copy.index)["search.default_pipeline"] == index_name
    finally:
        client.indices.delete(index=f"{index_name}*")
        client.transport.perform_request("DELETE", f"/_search/pipeline/{index_name}")
