"""Read from a server that may be restarting: a missing shard is never taken for a missing document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from opensearchpy import OpenSearch

from trifuse.indexer.errors import ServerUnavailable
from trifuse.indexer.hints import Hint
from trifuse.indexer.retry import Retry, retrying

PATIENT = Retry()
"""Waits a minute and a half: as long as a server takes to restart."""

OWN_SEARCHES = "trifuse"
"""The group of statistics that searches of upkeep are counted in: they say nothing about users' searches."""

OWN: Mapping[str, Any] = {"stats": [OWN_SEARCHES], "search_pipeline": "_none"}
"""What the body of every search of upkeep holds."""

PAGE_BYTES = 4 * 2**20
"""What a page of documents should hold, however long their texts are."""

_RESULT_WINDOW = 10_000
_IDS = 100
_PLACES = 10
"""Documents of one id, each on another shard: so many are looked for."""

NO_INDEX = "index_not_found_exception"

T = TypeVar("T")


def search(
    client: OpenSearch,
    index: str,
    body: Mapping[str, Any],
    *,
    params: Mapping[str, Any] | None = None,
    retry: Retry = PATIENT,
) -> dict[str, Any]:
    """The answer of a search that all shards took part in; no hits where there is no such index.

    The owner's search pipeline doesn't run: it may hide documents, or rename what is in them.

    Raises:
        ServerUnavailable: some shards didn't answer in all retries.
        TransportError: OpenSearch refused the search.
    """
    given = {"allow_partial_search_results": "false", "ignore_unavailable": "true", **(params or {})}
    answer: dict[str, Any] = retrying(
        lambda: client.search(index=index, body={**OWN, **body}, params=given),
        what=f"a search in the index {index!r}",
        retry=retry,
    )
    return answer


def next_size(size: int, read_bytes: int, *, most: int) -> int:
    """Documents of the next page, after one of `size` that held so many bytes: at most twice as many.

    >>> next_size(100, 40 * 2**20, most=500), next_size(100, 2**10, most=500)
    (10, 200)
    """
    fitting = size * PAGE_BYTES // max(1, read_bytes)
    return max(1, min(most, 2 * size, fitting))


def result_window(client: OpenSearch, index: str, *, retry: Retry = PATIENT) -> int:
    """The most hits that a search in the index may ask for; OpenSearch's default where it isn't set."""
    found: dict[str, Any] = retrying(
        lambda: client.indices.get_settings(
            index=index, name="index.max_result_window", params={"ignore_unavailable": "true"}
        ),
        what=f"the settings of the index {index!r}",
        retry=retry,
    )
    windows = (int(entry["settings"]["index"]["max_result_window"]) for entry in found.values())
    return min(windows, default=_RESULT_WINDOW)


def refresh(client: OpenSearch, index: str, *, must_exist: bool = False, retry: Retry = PATIENT) -> None:
    """Make what was written visible to searches; the index may refresh itself rarely, or never.

    Args:
        must_exist: where it mustn't be taken for an empty one if it is gone.

    Raises:
        NotFoundError: it is gone, and must exist.
        ServerUnavailable: some shards didn't answer in all retries.
    """
    retrying(
        lambda: client.indices.refresh(
            index=index, params={"ignore_unavailable": "false" if must_exist else "true"}
        ),
        what=f"a refresh of the index {index!r}",
        retry=retry,
    )


def count_documents(client: OpenSearch, index: str) -> int:
    """Documents of an index, as of its last refresh; none where it is gone."""
    body = {"size": 0, "track_total_hits": True}
    count: int = search(client, index, body, params={"preference": "_primary"})["hits"]["total"]["value"]
    return count


def find_places(client: OpenSearch, index: str, ids: Iterable[str], *, retry: Retry = PATIENT) -> list[Hint]:
    """Where the documents of these ids are, by id and routing: each in as many shards as it stands in.

    Raises:
        ServerUnavailable: some shards didn't answer in all retries.
    """
    # A search sees only what was refreshed, which the index may not be for half a minute, or ever.
    refresh(client, index, retry=retry)
    hits = find_by_ids(client, index, ids, retry=retry)
    return [(hit["_id"], hit.get("_routing")) for hit in hits]


def find_by_ids(
    client: OpenSearch,
    index: str,
    ids: Iterable[str],
    *,
    source: Sequence[str] = (),
    named: Iterable[Mapping[str, Any]] = (),
    retry: Retry = PATIENT,
) -> Iterator[dict[str, Any]]:
    """The hits of these ids, each in as many shards as it stands in, as of the last refresh.

    A few at a time: the index may allow no more, and its texts may be long.

    Args:
        source: the parts of `_source` to read.
        named: queries with a `_name`, of which a hit tells which it matches.

    Raises:
        ServerUnavailable: some shards didn't answer in all retries.
    """
    wanted = sorted(set(ids))
    window = result_window(client, index, retry=retry) if wanted else _RESULT_WINDOW
    most = max(1, min(_IDS, window // _PLACES))
    for start in range(0, len(wanted), most):
        some = wanted[start : start + most]
        body = {
            "query": {"bool": {"filter": [{"ids": {"values": some}}], "should": list(named)}},
            "_source": list(source) or False,
            "size": min(window, _PLACES * len(some)),
            "track_total_hits": False,
        }
        yield from search(client, index, body, retry=retry)["hits"]["hits"]


def get_documents(
    client: OpenSearch,
    index: str,
    hints: Sequence[Hint],
    *,
    source: Sequence[str] | bool = True,
    retry: Retry = PATIENT,
) -> list[dict[str, Any]]:
    """The newest versions of documents, refreshed or not: one item each, `found` or not.

    Args:
        source: the parts of `_source` to read: all, none, or these.

    Raises:
        ServerUnavailable: a shard that may hold one of them didn't answer in all retries.
        TransportError: OpenSearch refused the request.
    """
    if not hints:
        return []
    body = documents_body(hints, source)

    def read() -> list[dict[str, Any]]:
        answer: dict[str, Any] = retrying(
            lambda: client.mget(index=index, body=body),
            what=f"reading {len(hints)} documents of the index {index!r}",
            retry=retry,
        )
        items: list[dict[str, Any]] = answer["docs"]
        return items

    def errors(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        found = (item["error"] for item in items if "error" in item)
        return [error for error in found if error.get("type") != NO_INDEX]

    return without_errors(read, errors, index=index, retry=retry)


def documents_body(hints: Iterable[Hint], source: Sequence[str] | bool) -> dict[str, Any]:
    """What asks for documents by id and routing."""
    return {
        "docs": [
            {"_id": doc_id, "_source": source, **({} if routing is None else {"routing": routing})}
            for doc_id, routing in hints
        ]
    }


def without_errors(
    read: Callable[[], list[T]],
    errors_of: Callable[[list[T]], Sequence[Mapping[str, Any]]],
    *,
    index: str,
    retry: Retry,
) -> list[T]:
    """What `read` gives, as soon as every document of it can be read.

    Raises:
        ServerUnavailable: some can't in all retries.
    """
    attempt = 1
    while True:
        items = read()
        errors = errors_of(items)
        if not errors:
            return items
        if attempt > retry.retries:
            raise ServerUnavailable(
                f"{len(errors)} of {len(items)} documents of the index {index!r} can't be read: "
                f"{errors[0].get('reason')}; do the same again when OpenSearch is well"
            )
        retry.pause(attempt)
        attempt += 1
