"""What the server and its disks allow. Pure functions.

From which version on the Lucene engine does what is asked of it, and where that is written:

- filters inside k-NN, 2.4: docs.opensearch.org/3.5/vector-search/filter-search-knn/index/
- over 1,024 and up to 16,000 dimensions, 2.12; inner products, 2.13: the release notes of the k-NN plugin,
  github.com/opensearch-project/k-NN, release-notes/opensearch-knn.release-notes-2.12.0.0.md and -2.13.0.0.md
- scores computed exactly, without an engine, 1.x: docs.opensearch.org/1.3/search-plugins/knn/knn-score-script
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from trifuse.encoder.marks import MARKS
from trifuse.indexer.attach.disk import bytes_per_document, human
from trifuse.indexer.attach.facts import IndexFacts, ServerFacts
from trifuse.indexer.attach.plan import Finding, Request
from trifuse.indexer.behind import is_on

PLUGIN = "opensearch-knn"
_NARROW = 1_024
_WIDEST = 16_000


def judge_server(server: ServerFacts, request: Request) -> Iterator[Finding]:
    """Whether it is an OpenSearch that can do it, and which engine searches the vectors."""
    if server.distribution != "opensearch":
        yield Finding(
            "refused",
            "server",
            f"it is {server.distribution.capitalize()} {server.version}, not OpenSearch",
            f"use an OpenSearch of version {_needed(request)[0]} or newer",
        )
        return
    yield Finding("ok", "server", f"OpenSearch {server.version}, {server.nodes} data node(s)")
    if server.plugins is None:
        yield Finding(
            "note", "plugin", "this user may not see the plugins", f"{PLUGIN} must be on every node"
        )
    elif PLUGIN in server.plugins:
        yield Finding("ok", "plugin", f"{PLUGIN} is on every node")
    else:
        yield Finding(
            "refused", "plugin", f"{PLUGIN} isn't on every node", "install it on all nodes and restart them"
        )
    yield _engine(server.version, request)
    if server.read_only:
        yield Finding(
            "refused", "blocks", "the whole cluster is read-only", "take off cluster.blocks.read_only first"
        )


def _engine(version: str, request: Request) -> Finding:
    found = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if request.encoder.dimension > _WIDEST:
        return Finding(
            "refused",
            "engine",
            f"vectors have {request.encoder.dimension:,} dimensions, and knn_vector {_WIDEST:,} at most",
            "use an encoder of fewer",
        )
    if request.mode == "exact":
        return Finding("ok", "engine", "none: scores are computed exactly, by the script knn_score")
    needed, why = _needed(request)
    if found < tuple(map(int, needed.split("."))):
        return Finding(
            "refused", "engine", f"lucene has {why} from version {needed} on", f"upgrade to {needed} or newer"
        )
    return Finding("ok", "engine", "lucene, named in the mapping; filters hold inside k-NN")


def _needed(request: Request) -> tuple[str, str]:
    """The oldest version whose Lucene engine will do, and what for."""
    if request.encoder.similarity == "dot":
        return "2.13", "inner products"
    if request.encoder.dimension > _NARROW:
        return "2.12", f"vectors of {request.encoder.dimension} dimensions"
    return "2.4", "filters inside k-NN"


def disk_needed(
    server: ServerFacts, index: IndexFacts, request: Request, vectors: int, *, copied: bool
) -> int:
    """The bytes that all copies of an index will take more.

    Args:
        vectors: how many a document gets.
        copied: whether the documents are written once more as well.
    """
    each = bytes_per_document(
        request.encoder.dimension,
        graph=request.mode != "exact",
        derived_source=is_on((index.settings.get("knn.derived_source") or {}).get("enabled")),
    )
    more = index.documents * vectors * each + (index.store_bytes if copied else 0)
    return more * (1 + _replicas(index, server.nodes))


def _replicas(index: IndexFacts, nodes: int) -> int:
    """Replicas that find a node: the others are never written."""
    return min(int(index.settings.get("number_of_replicas", 1)), max(0, nodes - 1))


def judge_disk(server: ServerFacts, needed: int) -> Finding:
    """Whether it fits: past the flood stage every index of the node becomes read-only."""
    if not needed:
        return Finding("ok", "disk", "no more than now")
    text = f"about {human(needed)} more"
    if not server.disks:
        return Finding("note", "disk", f"{text}; this user may not see what is free", "look yourself")
    free = sum(disk.free for disk in server.disks)
    text += f", while merging up to twice that; {human(free)} are free"
    if needed > sum(max(0, disk.free - disk.flood) for disk in server.disks):
        return Finding(
            "refused", "disk", f"{text}: it would pass the flood-stage watermark", "free or add disk first"
        )
    if 2 * needed > sum(max(0, disk.free - disk.low) for disk in server.disks):
        return Finding(
            "note", "disk", f"{text}: it comes near the low watermark", "watch the disk, or add some"
        )
    return Finding("ok", "disk", text)


def judge_response(size: int, field: str, *, parts: bool) -> Finding:
    """What the owner's own searches carry more.

    Args:
        size: of a hit's vectors, in bytes.
        parts: whether there are vectors of single parts, too.
    """
    excluded = [field, *([f"{field}_*"] if parts else []), MARKS]
    return Finding(
        "note",
        "responses",
        f"each hit of your own searches carries about {human(size)} more, unless they exclude it",
        f'send "_source": {{"excludes": {json.dumps(excluded)}}} with them',
    )
