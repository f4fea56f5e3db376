"""A batch of items as the counting script reads it (`counting_script`). Pure functions.

Columns instead of rows: what is done once an item, in Python or in Redis, is what counting costs.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.records import RECORD, RECORD_BYTES, Records, doc_hash
from trifuse.ranker.keys import DAY_S
from trifuse.worker.clicks.items import Item

MARK_BYTES = 8

_CACHED = 65_536
_MAX_TIME = 2**32 - 1
_ODD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93))
_HALF = np.uint64(32)

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]


class Packed(NamedTuple):
    """A batch for the script.

    Args:
        days: days since 1970 of the events.
        queries: past queries' ids, in the order of the script's answer.
        args: the script's arguments after its settings.
        order: of each item in the order in which the script looks at their marks, its position in the batch.
    """

    days: list[int]
    queries: list[str]
    args: list[bytes]
    order: list[int]


class _Visits(NamedTuple):
    """Who did what on which day: items in the order of days, visitors, and coming; strangers' come last.

    Args:
        order: (n,) positions of the items.
        known: how many of them have a visitor.
        days: days since 1970, ascending.
        starts: where in the order each visitor's day begins.
        visitors, strangers: of each day, how many visitors it has, and how many items without one.
    """

    order: Places
    known: int
    days: list[int]
    starts: Places
    visitors: list[int]
    strangers: list[int]

    def lasts(self) -> list[int]:
        """Of each visitor's day its last item, from 1; none where each has one."""
        return [] if len(self.starts) == self.known else [*self.starts[1:].tolist(), self.known]


def packed(items: Sequence[Item]) -> Packed:
    """A batch of 1 to 65,535 items."""
    clicks = np.array([item.clicks for item in items])
    queries, places = _placed([item.query for item in items])
    first = _hashes(map(_doc_hash, [item.docs[0] for item in items]))
    who = _hashes(map(_who, items))
    visits = _visits(items, who)
    counts = np.array([len(item.docs) for item in items])
    by_query = np.argsort(places.astype(np.uint16), kind="stable")  # NumPy sorts 16 bits by radix
    ends = np.cumsum(counts[by_query]) * RECORD_BYTES
    stops = np.cumsum(np.bincount(places))
    known, strangers = visits.order[: visits.known], visits.order[visits.known :]
    marks = _marks(queries, places, first, clicks)
    columns = (
        visits.lasts(),
        np.bincount(places, clicks).astype(np.int64).tolist(),
        ends[stops - 1].tolist(),
        visits.strangers,
    )
    return Packed(
        visits.days,
        queries,
        [
            msgspec.msgpack.encode(columns),
            marks[known].tobytes() + who[strangers].tobytes(),
            _take(_records(items, counts), counts, by_query).tobytes(),
            _lists(who[known[visits.starts]], visits.visitors),
            *_details(visits, by_query, places, stops, clicks, ends),
        ],
        visits.order.tolist(),
    )


def records_of(items: Sequence[Item]) -> bytes:
    """The records of items, as a query's string holds them."""
    return _records(items, np.array([len(item.docs) for item in items])).tobytes()


def names_of(items: Iterable[Item]) -> dict[bytes, str]:
    """The documents that were clicked, by the hash that stands for each in records."""
    return {_doc_hash(item.docs[0]): item.docs[0] for item in items if item.clicks}


def visitor_mark(visitor: str, *, page: bool = False) -> bytes:
    """What stands for a visitor: 8 bytes; pages that a visitor saw are counted as another one's."""
    return _visitor_mark(f"page\0{visitor}" if page else visitor)


def event_mark(event: str) -> bytes:
    """What stands for an item without a visitor among those of its day: 8 bytes."""
    return _hash(event)


def _records(items: Sequence[Item], counts: Places) -> Records:
    records = np.zeros(counts.sum(), RECORD)
    records["doc"] = _hashes(map(_doc_hash, chain.from_iterable([item.docs for item in items])))
    times = np.clip([item.timestamp for item in items], 0, _MAX_TIME)
    records["time"] = np.repeat(times, counts)
    records["clicks"][np.cumsum(counts) - counts] = [item.clicks for item in items]
    records["expected"] = list(chain.from_iterable([item.expected for item in items]))
    return records


def _take(records: Records, counts: Places, order: Places) -> Records:
    """The records of items in another order of the items; `counts` are how many each item has."""
    there = counts[order]
    shifts = (np.cumsum(counts) - counts)[order] - (np.cumsum(there) - there)
    return records[np.repeat(shifts, there) + np.arange(len(records))]


def _who(item: Item) -> bytes:
    if not item.visitor:
        return _hash(item.event)
    return _visitor_mark(item.visitor if item.clicks else f"page\0{item.visitor}")


def _visits(items: Sequence[Item], who: Hashes) -> _Visits:
    day = np.array([item.timestamp for item in items]) // DAY_S
    days, group = np.unique(day.astype(np.int64), return_inverse=True)
    stranger = np.array([not item.visitor for item in items])
    group = group + len(days) * stranger
    order = np.lexsort((who, group))
    known = len(items) - int(stranger.sum())
    ordered, groups = who[order[:known]], group[order[:known]]
    starts = np.flatnonzero(_differs(ordered) | _differs(groups))
    visitors = np.bincount(groups[starts], minlength=len(days))
    strangers = np.bincount(group, minlength=2 * len(days))[len(days) :]
    return _Visits(order, known, days.tolist(), starts, visitors.tolist(), strangers.tolist())


def _marks(queries: Sequence[str], places: Places, docs: Hashes, clicks: Places) -> NDArray[np.uint32]:
    """(n,) what stands for query and document, or for the query's page."""
    query = np.array([zlib.crc32(query.encode()) for query in queries], np.uint64)[places]
    mixed = docs * _ODD[0]
    mixed[clicks == 0] = 0
    return (((query ^ mixed) * _ODD[1]) >> _HALF).astype(np.uint32)


def _details(
    visits: _Visits, by_query: Places, places: Places, stops: Places, clicks: Places, ends: Places
) -> list[bytes]:
    """What the script looks at where an item doesn't count or its query isn't public: integers of 4 bytes."""
    at = np.empty(len(by_query), np.int64)
    at[by_query] = np.arange(len(by_query))
    slots = np.zeros(len(by_query), np.int64)
    slots[at[visits.order[: visits.known]]] = np.repeat(
        np.arange(len(visits.starts)) + 1, np.diff(visits.starts, append=visits.known)
    )
    columns = (at[visits.order] + 1, places[by_query] + 1, slots, clicks[by_query], ends, stops)
    return [np.minimum(column, _MAX_TIME).astype("<u4").tobytes() for column in columns]


def _placed(values: Sequence[str]) -> tuple[list[str], Places]:
    """Each value once, in order, and of each its place among these."""
    places = {value: place for place, value in enumerate(dict.fromkeys(values))}
    return list(places), np.array([places[value] for value in values])


def _hash(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=MARK_BYTES).digest()


_visitor_mark = lru_cache(_CACHED)(_hash)
_doc_hash = lru_cache(_CACHED)(doc_hash)


def _hashes(values: Iterable[bytes]) -> Hashes:
    return np.frombuffer(b"".join(values), "<u8")


def _differs(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value is another than the one before it; the first is."""
    return np.append(np.ones(min(1, len(values)), np.bool_), values[1:] != values[:-1])


def _lists(values: Hashes, sizes: Sequence[int]) -> bytes:
    """Lists of so many of these values, as MessagePack's text: the only kind of string that Redis reads."""
    texts = np.empty((len(values), 1 + MARK_BYTES), np.uint8)
    texts[:, 0] = 0xA0 | MARK_BYTES
    texts[:, 1:] = np.ascontiguousarray(values).view(np.uint8).reshape(-1, MARK_BYTES)
    data, at, parts = texts.tobytes(), 0, [_head(len(sizes))]
    for size in sizes:
        stop = at + size * (1 + MARK_BYTES)
        parts += [_head(size), data[at:stop]]
        at = stop
    return b"".join(parts)


def _head(size: int) -> bytes:
    return b"\xdd" + size.to_bytes(4, "big")
