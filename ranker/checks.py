"""Which clicked documents are there and match the filters. Dict in, dict out.

A hit's `_id` stands in the document's stored fields, beside its source and its vectors: to read 200 of them
takes the server longer than to find them (6 ms against 1 ms). So the documents are numbered, each scores its
number, and no stored field is read. The routing, a stored field too, would be missed where documents have
one: then, and where the server doesn't take so many clauses, they are asked for plainly (`legs.clicks_body`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trifuse.ranker.body import UserBody
from trifuse.ranker.legs import leg_body
from trifuse.ranker.queries import items
from trifuse.ranker.server import Answer
from trifuse.ranker.types import Clause
from trifuse.ranker.values import MAX_HITS

CHUNK = 500
"""Documents asked about in one search: half of the clauses that a server allows unless told otherwise."""

_ROUTED = {"routed": {"filter": {"exists": {"field": "_routing"}}}}


def check_bodies(
    user: UserBody, ids: Sequence[str], filter: Clause | None, *, indices: int
) -> list[dict[str, Any]]:
    """The searches, in chunks; `checked` reads their answers.

    Args:
        indices: how many are searched: each may have a document of an id.
    """
    return [_body(user, chunk, filter, size=len(chunk) * indices) for chunk in _chunks(ids)]


def _body(user: UserBody, ids: Sequence[str], filter: Clause | None, *, size: int) -> dict[str, Any]:
    numbered = [{"term": {"_id": {"value": id, "boost": number}}} for number, id in enumerate(ids, start=1)]
    query = {"should": numbered, "minimum_should_match": 1, "filter": items(filter)}
    body = {
        **leg_body(user, min(size, MAX_HITS)),
        "query": {"bool": query},
        "track_total_hits": False,
        "aggs": _ROUTED,
    }
    del body["_source"]  # asking for no source is refused where no stored field is read
    return {**body, "stored_fields": "_none_"}


def checked(answers: Iterable[Answer], ids: Sequence[str]) -> Answer | None:
    """The hits with their ids, as one answer; None where the documents have to be asked for plainly."""
    contents: list[Mapping[str, Any]] = []
    hits: list[Mapping[str, Any]] = []
    for answer, chunk in zip(answers, _chunks(ids), strict=True):
        if answer.error is not None or _routed(answer.content):
            return None
        contents.append(answer.content)
        hits += [{**hit, "_id": chunk[round(hit["_score"]) - 1]} for hit in answer.hits]
    shards = [each.get("_shards") or {} for each in contents]
    return Answer(
        200,
        None,
        {
            "took": max(each.get("took", 0) for each in contents),
            "timed_out": any(each.get("timed_out") for each in contents),
            "_shards": next((each for each in shards if each.get("failed")), shards[0]),
            "hits": {"hits": hits},
        },
    )


def _routed(content: Mapping[str, Any]) -> bool:
    found = (content.get("aggregations") or {}).get("routed")
    return found is None or found["doc_count"] > 0


def _chunks(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK))
