"""The search for past queries like a new one: alone, or along with others. I/O with OpenSearch."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError

from trifuse.encoder.errors import SpaceMismatch
from trifuse.encoder.marks import VECTOR_FIELD
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.types import Vectors
from trifuse.ranker.clicks.past_queries import (
    FoundQueries,
    queries_index,
    query_field,
    read_similar_queries,
    similar_queries_body,
)
from trifuse.ranker.kept import Kept

_LEAST_S = 0.001
"""Of a timeout: neither the client nor the server takes one of 0."""


class NoSimilar(Exception):
    """Similar past queries can't be looked up; the message says why."""


@dataclass(frozen=True)
class Near:
    """What is searched.

    Args:
        index: the search index or alias that the past queries belong to.
        vector: (dim,) float32 of the new query.
        space: of its encoder.
        count: how many past queries are wanted.
        field: of their vectors in that space.
    """

    index: str
    vector: Vectors
    space: EncoderSpace
    count: int
    field: str = VECTOR_FIELD


class QueryFields:
    """The fields of past queries' vectors by index and space, as the server told, kept for some seconds."""

    def __init__(self, client: OpenSearch) -> None:
        self._client = client
        self._kept = Kept[str]()

    def field(self, index: str, space: EncoderSpace, timeout_s: float) -> str:
        """The field; the first one where the server doesn't say it within the time."""
        return self._kept.get((index, space), lambda: self._read(index, space, timeout_s))

    def _read(self, index: str, space: EncoderSpace, timeout_s: float) -> str:
        path = f"/{quote(queries_index(index), safe='')}/_mapping"
        try:
            answer = _ask(self._client, "GET", path, None, timeout_s)
            ((_, entry),) = msgspec.json.decode(answer).items()
            return query_field(entry["mappings"].get("_meta"), space)
        except (TransportError, SpaceMismatch, msgspec.DecodeError, AttributeError, KeyError, ValueError):
            return VECTOR_FIELD  # the search tells what is wrong


def search_along(near: Near, timeout_s: float) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Header and body of the search, for `_msearch`."""
    body = similar_queries_body(near.vector, near.space, near.count, field=near.field)
    timeout = f"{round(1000 * max(timeout_s, _LEAST_S))}ms"
    return {"index": queries_index(near.index)}, {**body, "timeout": timeout}


def find_similar(
    client: OpenSearch, near: Near, timeout_s: float, *, answer: Mapping[str, Any] | None = None
) -> list[tuple[str, float]]:
    """Normal forms and similarities of the nearest past queries of the space, nearest first.

    Args:
        timeout_s: within which OpenSearch has to answer, however often it is asked.
        answer: to `search_along`, where it went along.

    Raises:
        NoSimilar: they weren't found.
    """
    deadline = time.monotonic() + timeout_s
    name = queries_index(near.index)

    def search(*, filtered: bool) -> FoundQueries:
        body = similar_queries_body(near.vector, near.space, near.count, filtered=filtered, field=near.field)
        return _read(_search(client, name, body, deadline - time.monotonic()), near)

    found = search(filtered=False) if answer is None else _read(_item(answer, near), near)
    return (found if found.complete else search(filtered=True)).texts


def _read(answer: str | Mapping[str, Any], near: Near) -> FoundQueries:
    try:
        return read_similar_queries(answer, near.space, field=near.field)
    except msgspec.DecodeError as error:
        raise NoSimilar("similar past queries weren't found: the answer is no search's") from error


def _item(answer: Mapping[str, Any], near: Near) -> Mapping[str, Any]:
    """An item of `_msearch`, unless it is an error."""
    error = answer.get("error")
    if error is not None:
        kind = error.get("type") if isinstance(error, Mapping) else error
        raise _refused(queries_index(near.index), answer.get("status"), kind)
    return answer


def _search(client: OpenSearch, name: str, body: Mapping[str, Any], timeout_s: float) -> str:
    path = f"/{quote(name, safe='')}/_search"
    try:
        return _ask(client, "POST", path, msgspec.json.encode(body), timeout_s)
    except TransportError as error:
        raise _refused(name, error.status_code, error.error) from error


def _ask(client: OpenSearch, method: str, path: str, body: bytes | None, timeout_s: float) -> str:
    """What OpenSearch answers, asked once: the client would try again, and the budget be spent twice."""
    connection = client.transport.get_connection()
    _, _, answer = connection.perform_request(
        method,
        path,
        body=body,
        headers={"content-type": "application/json"},
        timeout=max(timeout_s, _LEAST_S),
    )
    found: str = answer
    return found


def _refused(name: str, status: object, why: object) -> NoSimilar:
    if status == 404:
        return NoSimilar(f"no past queries yet: there is no index {name!r}")
    return NoSimilar(f"similar past queries weren't found: {status} {why}")
