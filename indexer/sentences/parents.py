"""The parents that an index of sentences names, whether or not they are still there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from opensearchpy import OpenSearch

from trifuse.indexer.pending import Found
from trifuse.indexer.reading import refresh, search

_PAGE = 1000

Place = dict[str, str | None]
"""A parent's id and routing, as a composite aggregation keeps its place by them."""


def named_parents(client: OpenSearch, sentences: str, after: Place | None) -> Iterator[list[Found]]:
    """The parents after this one that the sentences name, page by page, as if they were gone."""
    sources = [
        {"id": {"terms": {"field": "parent_id"}}},
        {"routing": {"terms": {"field": "parent_routing", "missing_bucket": True}}},
    ]
    composite: dict[str, Any] = {"size": _PAGE, "sources": sources, **({"after": after} if after else {})}
    body = {"size": 0, "aggs": {"parents": {"composite": composite}}}
    refresh(client, sentences)
    while True:
        answer: Mapping[str, Any] = search(client, sentences, body)
        found = (answer.get("aggregations") or {}).get("parents") or {}
        keys = [bucket["key"] for bucket in found.get("buckets", ())]
        if keys:
            yield [Found(key["id"], key["routing"], -1, {}) for key in keys]
        if len(keys) < _PAGE:
            return
        composite["after"] = found["after_key"]
