"""Read what a plan is judged by: the server, the indexes behind a name, a sample. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import AuthorizationException

from trifuse.encoder.templates import TextTemplate, build_text
from trifuse.indexer.attach.disk import NodeDisk, reserve
from trifuse.indexer.attach.plan import Sample
from trifuse.indexer.behind import Index, indexes_behind, is_on
from trifuse.indexer.reading import result_window, search

SAMPLED = 100
_SHOWN = 120


class ServerFacts(msgspec.Struct, frozen=True):
    """The server.

    Args:
        distribution, version: `opensearch`, `3.6.0`.
        plugins: those that all nodes have; None where that can't be read.
        nodes: how many hold data.
        disks: of these nodes; none where that can't be read.
        read_only: whether the whole cluster takes no writes.
    """

    distribution: str
    version: str
    plugins: frozenset[str] | None
    nodes: int
    disks: tuple[NodeDisk, ...]
    read_only: bool = False


class IndexFacts(Index, frozen=True, kw_only=True):
    """One concrete index, and how much it holds.

    Args:
        closed: whether it is.
        documents: as of the last refresh; 0 where it is closed.
        store_bytes: of its primary shards.
    """

    closed: bool = False
    documents: int = 0
    store_bytes: int = 0


def read_server(client: OpenSearch) -> ServerFacts:
    """The server; what the user has no right to see stays unknown."""
    version: dict[str, Any] = client.info()["version"]
    plugins: frozenset[str] | None = None
    disks: tuple[NodeDisk, ...] = ()
    count, read_only = 1, False
    try:
        nodes: dict[str, Any] = client.nodes.info(metric="plugins")["nodes"]
        named = [frozenset(each["name"] for each in node.get("plugins", ())) for node in nodes.values()]
        plugins = frozenset.intersection(*named)
        settings = _cluster_settings(client)
        read_only = any(
            is_on(settings.get(f"cluster.blocks.{name}")) for name in ("read_only", "read_only_allow_delete")
        )
        count = int(client.cluster.health()["number_of_data_nodes"])
        disks = _disks(client, settings)
    except AuthorizationException:
        pass
    return ServerFacts(
        str(version.get("distribution", "elasticsearch")),
        str(version["number"]),
        plugins,
        count,
        disks,
        read_only,
    )


def _cluster_settings(client: OpenSearch) -> dict[str, Any]:
    answer: dict[str, Any] = client.cluster.get_settings(
        params={
            "include_defaults": "true",
            "flat_settings": "true",
            "filter_path": "*.cluster*",  # a filter sees each flat name as one word, dots and all
        }
    )
    layers = (answer.get(name) or {} for name in ("defaults", "persistent", "transient"))
    return {key: value for layer in layers for key, value in layer.items()}


def _disks(client: OpenSearch, settings: Mapping[str, Any]) -> tuple[NodeDisk, ...]:
    prefix = "cluster.routing.allocation.disk."
    if not is_on(settings.get(f"{prefix}threshold_enabled", "true")):
        low = flood = "0b"
    else:
        low = str(settings.get(f"{prefix}watermark.low", "85%"))
        flood = str(settings.get(f"{prefix}watermark.flood_stage", "95%"))
    nodes: dict[str, Any] = client.nodes.stats(metric="fs")["nodes"]
    disks = []
    for node in nodes.values():
        if "data" in node.get("roles", ["data"]):
            total = int(node["fs"]["total"]["total_in_bytes"])
            free = int(node["fs"]["total"]["available_in_bytes"])
            disks.append(NodeDisk(free, reserve(low, total), reserve(flood, total)))
    return tuple(disks)


def read_indexes(client: OpenSearch, name: str) -> list[IndexFacts]:
    """The indexes behind the name of an index, an alias or a data stream.

    Raises:
        IndexMissing: nothing has that name.
    """
    found = indexes_behind(client, name)
    params = {"format": "json", "bytes": "b", "h": "index,status,pri.store.size", "expand_wildcards": "all"}
    listed: Any = client.cat.indices(index=name, params=params)
    rows = {row["index"]: row for row in listed}
    return [_facts(client, index, rows.get(index.name, {})) for index in found]


def _facts(client: OpenSearch, index: Index, row: Mapping[str, Any]) -> IndexFacts:
    closed = row.get("status") == "close"
    unreadable = closed or is_on((index.settings.get("blocks") or {}).get("read"))
    return IndexFacts(
        **msgspec.structs.asdict(index),
        closed=closed,
        documents=0 if unreadable else int(client.count(index=index.name)["count"]),
        store_bytes=int(row.get("pri.store.size") or 0),
    )


def read_sample(client: OpenSearch, indexes: Sequence[str], template: TextTemplate) -> Sample:
    """About a hundred documents of the indexes, by what the template makes of them."""
    tops = sorted({path.split(".")[0] for path in template.fields})
    texts: list[str] = []
    for index in indexes:
        size = min(max(1, SAMPLED // len(indexes)), result_window(client, index))
        body = {"size": size, "_source": tops, "track_total_hits": False}
        hits = search(client, index, body)["hits"]["hits"]
        texts += [build_text(hit.get("_source") or {}, template) for hit in hits]
    filled = [text for text in texts if text]
    example = " ".join(filled[0].split()) if filled else ""
    return Sample(len(texts), len(filled), example[:_SHOWN] + ("…" if len(example) > _SHOWN else ""))
