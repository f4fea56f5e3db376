"""Reading an event index as a whole, a page at a time: memory doesn't grow with the log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from trifuse.worker.clicks.errors import NoEvents
from trifuse.worker.clicks.indexes import encoder_of, events_index

ALL: dict[str, Any] = {"match_all": {}}
CLICKS: dict[str, Any] = {"term": {"kind": "click"}}

_ORDER = [{"query_key": "asc"}, {"received": "asc"}, {"event_id": "asc"}]
"""The order in which the index itself is sorted."""


def clicks_of(field: str, values: Sequence[str]) -> dict[str, Any]:
    """The clicks with one of these values of a field (past queries by `query_key`, or documents)."""
    return {"bool": {"filter": [CLICKS, {"terms": {field: list(values)}}]}}


class EventSearch:
    """Searches of the events of one search index.

    Raises:
        NoEvents: by every method, where there is no event index.
        SearchIndexMissing: where there is no search index of that name either.
    """

    def __init__(self, client: OpenSearch, index: str) -> None:
        self._client = client
        self._index = index
        self.name = events_index(index)

    def refresh(self) -> None:
        """Let searches find what was written until now."""
        try:
            self._client.indices.refresh(index=self.name)
        except NotFoundError:
            raise self._missing() from None

    def count(self, query: Mapping[str, Any]) -> int:
        """How many events fit a query."""
        found = self._search({"size": 0, "query": query, "track_total_hits": True})
        return int(found["hits"]["total"]["value"])

    def pages(
        self, query: Mapping[str, Any], fields: Sequence[str] | None, size: int
    ) -> Iterator[list[Mapping[str, Any]]]:
        """The events that fit a query, so many at a time, in the order of the index.

        Args:
            fields: of each; None reads them whole.
        """
        body: dict[str, Any] = {
            "size": size,
            "query": query,
            "sort": _ORDER,
            "_source": True if fields is None else list(fields),
            "track_total_hits": False,
        }
        while hits := self._search(body)["hits"]["hits"]:
            yield [hit["_source"] for hit in hits]
            body["search_after"] = hits[-1]["sort"]

    def buckets(
        self,
        sources: Mapping[str, Any],
        aggregations: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] = ALL,
        size: int = 10_000,
    ) -> Iterator[dict[str, Any]]:
        """Groups of the events that fit a query, in the order of their keys, asked for so many at a time.

        Args:
            sources: name to what is grouped by: a field, or a source as OpenSearch's composite aggregation
                has it. Events that lack one are in no group.
            aggregations: what is worked out of each group.
        """
        composite: dict[str, Any] = {
            "size": size,
            "sources": [
                {name: {"terms": {"field": by}} if isinstance(by, str) else by}
                for name, by in sources.items()
            ],
        }
        groups = {"composite": composite, **({"aggs": dict(aggregations)} if aggregations else {})}
        body = {"size": 0, "query": query, "aggs": {"groups": groups}, "track_total_hits": False}
        while found := self._search(body)["aggregations"]["groups"]["buckets"]:
            yield from found
            if len(found) < size:
                return
            composite["after"] = found[-1]["key"]

    def aggregate(self, query: Mapping[str, Any], aggregations: Mapping[str, Any]) -> dict[str, Any]:
        """What is worked out of all events that fit a query."""
        body = {"size": 0, "query": query, "aggs": dict(aggregations), "track_total_hits": False}
        return dict(self._search(body)["aggregations"])

    def clicked(self, field: str, values: Sequence[str]) -> set[str]:
        """Which of these values of a field have clicks."""
        found = self.aggregate(
            clicks_of(field, values), {"values": {"terms": {"field": field, "size": max(1, len(values))}}}
        )
        return {bucket["key"] for bucket in found["values"]["buckets"]}

    def _search(self, body: dict[str, Any]) -> Any:
        try:
            return self._client.search(index=self.name, body=body)
        except NotFoundError:
            raise self._missing() from None

    def _missing(self) -> NoEvents:
        encoder_of(self._client, self._index)  # a name that is no index's needs another remedy
        return NoEvents(
            f"{self._index!r} has no click events: `trifuse clicks load FILE --index {self._index}` takes a "
            "log's"
        )
