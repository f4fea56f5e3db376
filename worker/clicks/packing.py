"""A batch of items as the counting script reads it (`counting_script`). Pure functions.

Columns instead of rows: what is done once an item, in Python or in Redis, is what counting costs.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import chain, compress
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


def packed(items: Sequence[Item]) -> Packed:
    """A batch of one item or more."""
    clicks = [item.clicks for item in items]
    queries, places = _placed([item.query for item in items])
    days, day_places = _placed([int(item.timestamp // DAY_S) for item in items])
    slots, visitors = _slots(items, day_places, len(days))
    by_query = np.argsort(places, kind="stable").tolist()
    sorted_items = [items[place] for place in by_query]
    columns = (
        slots,
        places,
        np.cumsum(np.bincount(places)[1:]).tolist(),
        [place + 1 for place in by_query],
        [clicks[place] for place in by_query],
        (np.cumsum([len(item.docs) for item in sorted_items]) * RECORD_BYTES).tolist(),
    )
    named = list(dict.fromkeys([item.docs[0] for item in compress(items, clicks)]))
    return Packed(
        days,
        queries,
        [
            msgspec.msgpack.encode(columns),
            _marks(items, queries, places, clicks, slots),
            records_of(sorted_items),
            _list(visitors),
            msgspec.msgpack.encode(queries),
            _strings(list(map(_doc_hash, named))),
            msgspec.msgpack.encode(named),
        ],
    )


def records_of(items: Sequence[Item]) -> bytes:
    """The records of items, as a query's string holds them."""
    counts = [len(item.docs) for item in items]
    records = np.zeros(sum(counts), RECORD)
    records["doc"] = _hashes(map(_doc_hash, chain.from_iterable([item.docs for item in items])))
    times = np.clip([item.timestamp for item in items], 0, _MAX_TIME)
    records["time"] = np.repeat(times, counts)
    records["clicks"][np.cumsum(counts) - counts] = [item.clicks for item in items]
    records["expected"] = list(chain.from_iterable([item.expected for item in items]))
    return records.tobytes()


@lru_cache(_CACHED)
def visitor_mark(visitor: str, *, page: bool = False) -> bytes:
    """What stands for a visitor: 8 bytes; pages that a visitor saw are counted as another one's."""
    return _hash(f"page\0{visitor}" if page else visitor)


def event_mark(event: str) -> bytes:
    """What stands for an item without a visitor among those of its day: 8 bytes."""
    return _hash(event)


def _slots(items: Sequence[Item], days: list[int], count: int) -> tuple[list[int], list[bytes]]:
    """Of each item its visitor's day, from 1 over all, or its day below 0; of each day its visitors."""
    visits = [
        (day, item.visitor, item.clicks > 0) if item.visitor else None
        for day, item in zip(days, items, strict=True)
    ]
    numbered = sorted({visit for visit in visits if visit})
    slots = {visit: slot for slot, visit in enumerate(numbered, 1)}
    there: list[list[bytes]] = [[] for _ in range(count)]
    for day, visitor, clicked in numbered:
        there[day - 1].append(visitor_mark(visitor, page=not clicked))
    return (
        [slots[visit] if visit else -day for visit, day in zip(visits, days, strict=True)],
        list(map(_strings, there)),
    )


def _marks(
    items: Sequence[Item], queries: list[str], places: list[int], clicks: list[int], slots: list[int]
) -> bytes:
    """8 bytes an item: of a visitor's, 4 that stand for query and document, or for the query's page."""
    query = np.array([zlib.crc32(query.encode()) for query in queries], np.uint64)[np.asarray(places) - 1]
    docs = _hashes([_doc_hash(item.docs[0]) for item in items]) * _ODD[0]
    docs[np.asarray(clicks) == 0] = 0
    marks: Hashes = ((query ^ docs) * _ODD[1]) >> _HALF
    for place, slot in enumerate(slots):
        if slot < 0:
            marks[place] = int.from_bytes(event_mark(items[place].event), "little")
    return marks.tobytes()


def _placed(values: list[T]) -> tuple[list[T], list[int]]:
    """Each value once, in order, and of each its place among these from 1."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values), 1)}
    return list(places), [places[value] for value in values]


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=MARK_BYTES).digest()


_doc_hash = lru_cache(_CACHED)(doc_hash)


def _hashes(values: Iterable[bytes]) -> Hashes:
    return np.frombuffer(b"".join(values), "<u8")


def _strings(values: Sequence[bytes]) -> bytes:
    """Strings of 8 bytes as MessagePack's text, the only kind of string that Redis reads."""
    return _list([b"\xa8" + value for value in values])


def _list(parts: Sequence[bytes]) -> bytes:
    return b"\xdd" + len(parts).to_bytes(4, "big") + b"".join(parts)
