"""Documents of a shard in the order in which they were last written, their `_source` as the server has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from opensearchpy import OpenSearch
from opensearchpy.exceptions import TransportError

from trifuse.indexer.copying.lenient import Own, decode
from trifuse.indexer.cursors import Shard
from trifuse.indexer.errors import IndexMissing, ServerUnavailable
from trifuse.indexer.hints import Hint
from trifuse.indexer.reading import (
    NO_INDEX,
    OWN,
    PATIENT,
    documents_body,
    next_size,
    result_window,
    without_errors,
)
from trifuse.indexer.retry import Retry, retrying

_FIRST_PAGE = 10
_LARGEST_PAGE = 1_000
_SMALL_HEAP = 2**30
_HEAP_A_DOCUMENT = 10 * 2**20

_AT_ONCE = Retry(retries=0)


class RawHit(msgspec.Struct, frozen=True):
    """A document as a search shows it; `source` is its JSON, unparsed."""

    id: str = msgspec.field(name="_id")
    seq_no: int = msgspec.field(name="_seq_no")
    primary_term: int = msgspec.field(name="_primary_term")
    routing: str | None = msgspec.field(name="_routing", default=None)
    source: msgspec.Raw = msgspec.field(name="_source", default=msgspec.Raw(b"{}"))


class RawItem(msgspec.Struct, frozen=True):
    """A document as `_mget` shows it."""

    id: str = msgspec.field(name="_id")
    found: bool = False
    seq_no: int = msgspec.field(name="_seq_no", default=-1)
    primary_term: int = msgspec.field(name="_primary_term", default=0)
    routing: str | None = msgspec.field(name="_routing", default=None)
    source: msgspec.Raw = msgspec.field(name="_source", default=msgspec.Raw(b"{}"))
    error: Any = None


class _Hits(msgspec.Struct):
    hits: list[RawHit]


class _Found(msgspec.Struct):
    hits: _Hits


class _Items(msgspec.Struct):
    docs: list[RawItem]


_found = msgspec.json.Decoder(_Found)
_items = msgspec.json.Decoder(_Items)


def _restore_found(found: _Found, own: Own) -> _Found:
    return _Found(_Hits([msgspec.structs.replace(hit, source=own(hit.source)) for hit in found.hits.hits]))


def _restore_items(items: _Items, own: Own) -> _Items:
    return _Items([msgspec.structs.replace(item, source=own(item.source)) for item in items.docs])


def raw_pages(
    client: OpenSearch,
    index: str,
    shard: Shard,
    *,
    after: int = -1,
    source: bool = True,
) -> Iterator[list[RawHit]]:
    """Documents of one shard that were written after a number, up to its checkpoint; read what is refreshed.

    A page holds about `reading.PAGE_BYTES`: the size of the next follows from the last, and at most doubles;
    one that the server can't answer is asked for in smaller ones. A search covers as many numbers as a
    page is likely to take, so that the server doesn't sort the rest of the shard every time.

    Args:
        source: whether to read `_source`.
    """
    if after >= shard.checkpoint:
        return
    most = min(_page_limit(client) if source else _LARGEST_PAGE, result_window(client, index))
    size = min(_FIRST_PAGE if source else most, most)
    numbers = 1  # of writes, for each of which that is still the last of its document
    while after < shard.checkpoint:
        upto = min(shard.checkpoint, after + size * numbers)
        body = {
            **OWN,
            "query": shard.written(after, upto),
            "sort": [{"_seq_no": "asc"}],
            "_source": source,
            "size": size,
            "track_total_hits": False,
            "seq_no_primary_term": True,
        }
        params = {"preference": shard.preference, "allow_partial_search_results": "false"}
        retry = PATIENT if size == 1 else _AT_ONCE
        try:
            answer = _post(client, f"/{index}/_search", body, params, retry)
        except ServerUnavailable:
            if size == 1:
                raise
            size = max(1, size // 4)
            continue
        hits = decode(_found, answer, _restore_found).hits.hits
        if len(hits) < size:
            after, numbers = upto, 2 * numbers
        else:
            numbers = max(1, (hits[-1].seq_no - after) // size)
            after = hits[-1].seq_no
        if hits:
            size = next_size(size, size_of(hits) * size // len(hits), most=most)
            yield hits


def page_limit(heap: int) -> int:
    """Documents of a page at most, by the bytes of memory of the server's smallest node.

    It holds a whole page, more than once, and only its answer tells how large the documents are: small ones
    may be followed by a hundred of 2 MB, which take 600 MB.

    >>> page_limit(2**30), page_limit(32 * 2**30)
    (102, 1000)
    """
    return max(10, min(_LARGEST_PAGE, heap // _HEAP_A_DOCUMENT))


def _page_limit(client: OpenSearch) -> int:
    try:
        nodes = client.nodes.info(metric="jvm")["nodes"].values()
        return page_limit(min(int(node["jvm"]["mem"]["heap_max_in_bytes"]) for node in nodes))
    except (TransportError, KeyError, ValueError):  # it may not be told to everybody
        return page_limit(_SMALL_HEAP)


def size_of(hits: Sequence[RawHit]) -> int:
    """The bytes of the documents' sources."""
    return sum(len(memoryview(hit.source)) for hit in hits)


def raw_documents(
    client: OpenSearch,
    index: str,
    wanted: Sequence[Hint],
    *,
    source: Sequence[str] | bool = True,
) -> list[RawItem]:
    """The newest versions of documents, refreshed or not, by id and routing: an item each.

    Args:
        source: the parts of `_source` to read: all, none, or top-level names.
    """
    if not wanted:
        return []
    body = documents_body(wanted, source)

    def read() -> list[RawItem]:
        return decode(_items, _post(client, f"/{index}/_mget", body, {}, PATIENT), _restore_items).docs

    def errors(items: Sequence[RawItem]) -> list[Mapping[str, Any]]:
        found = [item.error for item in items if item.error]
        if any(error.get("type") == NO_INDEX for error in found):
            raise IndexMissing(f"the index {index!r} was deleted while it was copied: do the same again")
        return found

    return without_errors(read, errors, index=index, retry=PATIENT)


def _post(
    client: OpenSearch, url: str, body: Mapping[str, Any], params: Mapping[str, str], retry: Retry
) -> bytes:
    """The answer as bytes: the client's own way parses it, and its numbers with it."""
    sent = msgspec.json.encode(body)
    headers = {"content-type": "application/json"}

    def ask() -> str:
        connection = client.transport.get_connection()
        _, _, data = connection.perform_request("POST", url, dict(params), sent, headers=headers)
        text: str = data
        return text

    what = f"reading {url.removesuffix('/_search').removesuffix('/_mget').strip('/')!r}"
    return retrying(ask, what=what, retry=retry).encode("utf-8", "surrogatepass")
