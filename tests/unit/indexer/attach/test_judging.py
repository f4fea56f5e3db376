"""Servers and indexes that aren't at hand, judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from trifuse.encoder.spaces import EncoderSpace
from trifuse.indexer.attach.disk import NodeDisk
from trifuse.indexer.attach.facts import IndexFacts, ServerFacts
from trifuse.indexer.attach.judge_index import judge_index
from trifuse.indexer.attach.judge_name import judge_name
from trifuse.indexer.attach.judge_server import disk_needed, judge_disk, judge_response, judge_server
from trifuse.indexer.attach.plan import Finding, Mode, Request

SPACE = EncoderSpace("tiny", "r1", "fp32", "cls", 3, True, "cosine")
KNN = frozenset({"opensearch-knn"})


def request(mode: Mode = "in_place", space: EncoderSpace = SPACE) -> Request:
    """A request for one field."""
    return Request(name="i", text=("title",), encoder=space, mode=mode)


def server(version: str = "3.6.0", *, plugins: frozenset[str] | None = KNN, **options: Any) -> ServerFacts:
    """A server of one node."""
    given: dict[str, Any] = {"distribution": "opensearch", "nodes": 1, "disks": (), **options}
    return ServerFacts(version=version, plugins=plugins, **given)


def index(**settings: Any) -> IndexFacts:
    """An index with k-NN."""
    return IndexFacts(
        name="i",
        settings={"knn": "true", "number_of_replicas": "1", **settings},
        mappings={"properties": {"title": {"type": "text"}}},
        documents=1000,
        store_bytes=10_000,
    )


def refused(findings: Any) -> list[str]:
    """The subjects that are refused."""
    return [item.subject for item in findings if item.level == "refused"]


def test_elasticsearch_is_refused() -> None:
    findings = list(judge_server(server("8.1.0", distribution="elasticsearch"), request()))
    assert [(item.level, item.text) for item in findings] == [
        ("refused", "it is Elasticsearch 8.1.0, not OpenSearch")
    ]


def test_without_the_plugin() -> None:
    assert refused(judge_server(server(plugins=frozenset()), request())) == ["plugin"]
    assert refused(judge_server(server(plugins=None), request())) == []


@pytest.mark.parametrize(
    ("version", "space", "mode", "subjects"),
    [
        ("2.3.0", SPACE, "in_place", ["engine"]),
        ("2.3.0", SPACE, "exact", []),
        ("2.4.0", SPACE, "in_place", []),
        ("2.12.0", replace(SPACE, similarity="dot"), "in_place", ["engine"]),
        ("2.13.0", replace(SPACE, similarity="dot"), "copy", []),
        ("2.11.1", replace(SPACE, dimension=2048), "in_place", ["engine"]),
        ("2.12.0", replace(SPACE, dimension=2048), "in_place", []),
        ("3.6.0", replace(SPACE, dimension=16_000), "in_place", []),
        ("3.6.0", replace(SPACE, dimension=16_001), "exact", ["engine"]),
        ("3.0.0-SNAPSHOT", replace(SPACE, similarity="dot"), "in_place", []),
    ],
)
def test_engine_by_version(version: str, space: EncoderSpace, mode: Mode, subjects: list[str]) -> None:
    assert refused(judge_server(server(version), request(mode, space))) == subjects


def test_disk_in_bytes() -> None:
    """12 of numbers and 141 of links a vector, 38 of JSON; a replica only where there is a node for it."""
    one = 12 + 141 + 38
    assert disk_needed(server(), index(), request(), 1, copied=False) == 1000 * one
    assert disk_needed(server(nodes=2), index(), request("exact"), 1, copied=False) == 2 * 1000 * (12 + 38)
    assert disk_needed(server(), index(), request("copy"), 1, copied=True) == 1000 * one + 10_000
    assert disk_needed(server(nodes=2), index(), request("copy"), 3, copied=True) == 2 * (3000 * one + 10_000)
    assert disk_needed(server(), index(), request(), 0, copied=False) == 0
    derived = index(**{"knn.derived_source": {"enabled": "true"}})
    assert disk_needed(server(), derived, request(), 1, copied=False) == 1000 * (12 + 141)


def test_vectors_of_parts_are_named_among_what_hits_carry() -> None:
    alone, beside = (judge_response(2048, "v", parts=parts) for parts in (False, True))
    assert alone.text.startswith("each hit of your own searches carries about 2.0 kB more")
    assert alone.remedy == 'send "_source": {"excludes": ["v", "trifuse"]} with them'
    assert beside.remedy == 'send "_source": {"excludes": ["v", "v_*", "trifuse"]} with them'


@pytest.mark.parametrize(
    ("free", "level"), [(1_000_000, "ok"), (10_500, "note"), (9_000, "refused"), (None, "note")]
)
def test_disk_against_watermarks(free: int | None, level: str) -> None:
    disks = () if free is None else (NodeDisk(free, low=10_000, flood=5_000),)
    found: Finding = judge_disk(server(disks=disks), 5_000)
    assert found.level == level


def test_what_is_attached_already_takes_no_disk() -> None:
    assert judge_disk(server(disks=(NodeDisk(0, low=10, flood=5),)), 0) == Finding(
        "ok", "disk", "no more than now"
    )


def test_the_index_behind_an_alias_is_named() -> None:
    assert [item.text for item in judge_name([index()], request())] == ["the index i, of 1,000 documents"]
    alias = Request(name="a", text=("title",), encoder=SPACE, mode="in_place")
    assert [item.text for item in judge_name([index()], alias)] == [
        "a is an alias of the index i, of 1,000 documents"
    ]


def test_read_only_cluster() -> None:
    assert refused(judge_server(server(read_only=True), request())) == ["blocks"]


def test_a_copy_needs_no_writes_to_the_source() -> None:
    blocked = index(blocks={"write": "true"})
    assert refused(judge_index(blocked, request("copy"), "trifuse_vector")) == []
    assert refused(judge_index(blocked, request(), "trifuse_vector")) == ["blocks"]


@pytest.mark.parametrize("mode", ["in_place", "copy"])
def test_a_derived_source_is_refused(mode: Mode) -> None:
    derived = index(knn="true", derived_source={"enabled": "true"})
    assert refused(judge_index(derived, request(mode), "trifuse_vector")) == ["_source"]
