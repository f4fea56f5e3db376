"""A batch of items as the counting script reads it (`counting_script`). Pure functions.

Columns instead of rows: what is done once an item, in Python or in Redis, is what counting costs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.click_records import RECORD, RECORD_BYTES, doc_hash
from trifuse.ranker.keys import DAY_S
from trifuse.worker.clicks.items import Item

MARK_BYTES = 8

_CACHED = 65_536
_MAX_TIME = 2**32 - 1
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
_HALF = np.uint64(32)

T = TypeVar("T", bound=Hashable)
Hashes = NDArray[np.uint64]


class Packed(NamedTuple):
    """A batch for the script.

    Args:
        days: days since 1970 of the events.
        queries: past queries' ids, in the order of the script's answer.
        args: the script's arguments after its settings.
    """

    days: list[int]
    queries: list[str]
    args: list[bytes]


def records_of(items: Sequence[Item]) -> bytes:
    """The records of items, as a query's string holds them."""
    counts = [len(item.docs) for item in items]
    docs = _hashes(map(_doc_hash, chain.from_iterable(item.docs for item in items)))
    return _records(items, docs, counts, list(accumulate(counts))).tobytes()


def packed(items: Sequence[Item]) -> Packed:
    """A batch of one item or more."""
    days = [int(item.timestamp // DAY_S) for item in items]
    day_places = _places(days)
    queries = _places([item.query for item in items])
    where = [queries[item.query] for item in items]
    who = [
        (day_places[day], visitor_mark(item.visitor, page=not item.clicks)) if item.visitor else None
        for day, item in zip(days, items, strict=True)
    ]
    visits = sorted(set(filter(None, who)))
    slots = {visit: slot for slot, visit in enumerate(visits, 1)}
    by_day: list[list[bytes]] = [[] for _ in day_places]
    for day, visitor in visits:
        by_day[day - 1].append(visitor)
    counts = [len(item.docs) for item in items]
    ends = list(accumulate(counts))
    docs = _hashes(map(_doc_hash, chain.from_iterable(item.docs for item in items)))
    named = list(dict.fromkeys(item.docs[0] for item in items if item.clicks))
    columns = (
        [slots[visit] if visit else -day_places[day] for visit, day in zip(who, days, strict=True)],
        where,
        [item.clicks for item in items],
        [RECORD_BYTES * end for end in ends],
    )
    return Packed(
        list(day_places),
        list(queries),
        [
            msgspec.msgpack.encode(columns),
            _marks(items, where, list(queries), docs[_starts(counts, ends)]).tobytes(),
            _records(items, docs, counts, ends).tobytes(),
            _list([_list(map(_raw, visitors), len(visitors)) for visitors in by_day], len(by_day)),
            msgspec.msgpack.encode(list(queries)),
            _list([_raw(_doc_hash(doc)) + msgspec.msgpack.encode(doc) for doc in named], 2 * len(named)),
        ],
    )


@lru_cache(_CACHED)
def visitor_mark(visitor: str, *, page: bool = False) -> bytes:
    """What stands for a visitor: 8 bytes; pages that a visitor saw are counted as another one's."""
    return _hash(f"page\0{visitor}" if page else visitor)


def event_mark(event: str) -> bytes:
    """What stands for an item without a visitor among those of its day: 8 bytes."""
    return _hash(event)


def _marks(items: Sequence[Item], where: list[int], queries: list[str], docs: Hashes) -> Hashes:
    """(n,): 4 bytes of query and document (the first of 8), or 8 bytes of an event that has no visitor.

    Args:
        where: of each item, its query's place from 1.
        docs: (n,) hashes of the items' first documents.
    """
    pages = np.array([not item.clicks for item in items])
    query = _hashes(map(_hash, queries))[np.asarray(where) - 1]
    marks: Hashes = query ^ np.where(pages, np.uint64(0), docs * _ODD[0])
    marks = ((marks ^ (marks >> _HALF)) * _ODD[1]) >> _HALF
    for place, item in enumerate(items):
        if not item.visitor:
            marks[place] = int.from_bytes(event_mark(item.event), "little")
    return marks


def _records(items: Sequence[Item], docs: Hashes, counts: list[int], ends: list[int]) -> NDArray[np.void]:
    records = np.zeros(len(docs), RECORD)
    times = np.array([item.timestamp for item in items])
    records["doc"] = docs
    records["time"] = np.repeat(np.clip(times, 0, _MAX_TIME), counts)
    records["clicks"][_starts(counts, ends)] = [item.clicks for item in items]
    records["expected"] = list(chain.from_iterable(item.expected for item in items))
    return records


def _places(values: Iterable[T]) -> dict[T, int]:
    """Each value once, in order, with its place from 1."""
    return {value: place for place, value in enumerate(dict.fromkeys(values), 1)}


def _starts(counts: list[int], ends: list[int]) -> NDArray[np.int64]:
    return np.asarray(ends, np.int64) - np.asarray(counts, np.int64)


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=MARK_BYTES).digest()


_doc_hash = lru_cache(_CACHED)(doc_hash)


def _hashes(values: Iterable[bytes]) -> Hashes:
    return np.frombuffer(b"".join(values), "<u8")


def _raw(value: bytes) -> bytes:
    """8 bytes as MessagePack's text, the only kind of string that Redis reads."""
    return b"\xa8" + value


def _list(parts: Iterable[bytes], size: int) -> bytes:
    return b"\xdd" + size.to_bytes(4, "big") + b"".join(parts)
