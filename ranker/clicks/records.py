"""A past query's clicks as a string of records, which is written by appending and read by adding up.

A record says: so many clicks on one document, and so many expected of the ranks where it was shown, as of
some second. Both fade by half with every half-life. All records fade at the same pace, so sums can be made at
any time and in any order: Cormode, Shkapenyuk, Srivastava, Xu 2009, "Forward Decay: A Practical Time Decay
Model for Streaming Systems".

| bytes | field | |
|---|---|---|
| 0 to 7 | doc | BLAKE2b-64 of the document's id |
| 8 to 11 | time | whole seconds since 1970, unsigned |
| 12 to 15 | clicks | float32, as of `time` |
| 16 to 19 | expected | float32, as of `time` |

All little-endian. A record may have clicks 0: the document was shown and not clicked. Sums are made in
float64, and the order of records changes them by rounding alone, less than 1e-12 of a sum. `compacted` rounds
to float32 again: by 6e-8 of a sum each time, and sums that faded below 1e-38 are gone. Of 37 million indexes
with a million documents each, one has two documents with the same hash.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.keys import DAY_S

RECORD = np.dtype([("doc", "<u8"), ("time", "<u4"), ("clicks", "<f4"), ("expected", "<f4")])
RECORD_BYTES = RECORD.itemsize
DOC_BYTES = 8

Records = NDArray[np.void]
"""(n,) of `RECORD`."""

_PACK = struct.Struct("<8sIff")
_MAX_TIME = 2**32 - 1
_MAX_FLOAT = float(np.finfo(np.float32).max)
_MAX_LOG2 = 127.0
"""Of what a record may weigh: only a record of decades ahead reaches it, and the sums stay finite."""


class Sums(NamedTuple):
    """What strings of records add up to: a row for each document of each query, by document, then by query.

    Args:
        docs: (d,) uint64, the hashes of the documents, ascending.
        doc: (n,) int64, a row's document as a position in `docs`.
        query: (n,) int64, a row's query as a position among the strings.
        clicks, expected: (n,) float64, as of the time that was asked for.
    """

    docs: NDArray[np.uint64]
    doc: NDArray[np.int64]
    query: NDArray[np.int64]
    clicks: NDArray[np.float64]
    expected: NDArray[np.float64]


def doc_hash(doc_id: str) -> bytes:
    """What stands for a document in records: 8 bytes of BLAKE2b."""
    return hashlib.blake2b(doc_id.encode("utf-8", "surrogatepass"), digest_size=DOC_BYTES).digest()


def pack(doc: bytes, time: float, clicks: float, expected: float) -> bytes:
    """One record; `doc` as `doc_hash` gives it, `time` in seconds since 1970.

    >>> pack(bytes(8), 1.5, 1.0, 0.0).hex()
    '0000000000000000010000000000803f00000000'
    """
    return _PACK.pack(
        doc, int(min(max(time, 0.0), _MAX_TIME)), min(clicks, _MAX_FLOAT), min(expected, _MAX_FLOAT)
    )


def decode(data: bytes) -> Records:
    """The records of a string, without those that are no counts: negative, infinite, not a number.

    Of a string that isn't a whole number of records nothing is known, as its records can't be told apart.
    """
    records = np.frombuffer(data if len(data) % RECORD_BYTES == 0 else b"", RECORD)
    sound = _is_sound(records)
    return records if sound.all() else records[sound]


def merged(strings: Sequence[bytes | None], now: float | None, half_life_days: float) -> Sums:
    """Add up what the records of each string say of each document.

    Args:
        strings: one for each past query; None or "" where there is none.
        now: the time that the sums are for, in seconds since 1970. A record of a later time weighs more than
            one of now, as it will when that time has come. None: for each string, that of its newest record.
    """
    records, query = _joined(strings)
    since = records["time"] - (_newest(records["time"], query, len(strings)) if now is None else float(now))
    weight = np.exp2(np.minimum(since / (half_life_days * DAY_S), _MAX_LOG2))
    order = _by_document(records["doc"])
    query, doc = query[order], records["doc"][order]
    clicks, expected = (records["clicks"] * weight)[order], (records["expected"] * weight)[order]
    new_doc = _differs(doc)
    starts = np.flatnonzero(new_doc | _differs(query))
    return Sums(
        docs=doc[new_doc],
        doc=(np.cumsum(new_doc) - 1)[starts],
        query=query[starts],
        clicks=_sum(clicks, starts),
        expected=_sum(expected, starts),
    )


def _newest(time: NDArray[np.uint32], query: NDArray[np.int64], queries: int) -> NDArray[np.float64]:
    """The latest time of each record's query."""
    latest = np.zeros(queries)
    np.maximum.at(latest, query, time)
    return latest[query]


def compacted(data: bytes, half_life_days: float, max_docs: int) -> bytes:
    """The same with one record a document, each as of its latest time, the best first.

    Best is what has most clicks at any one time; then, of those never clicked, what was expected most of.
    What comes after `max_docs` of them is dropped. The records alone decide, not when they are compacted.
    """
    return compacted_all([data], half_life_days, max_docs)[0]


def compacted_all(strings: Sequence[bytes], half_life_days: float, max_docs: int) -> list[bytes]:
    """Each string `compacted`, in less time than one after the other."""
    records, query = _joined(strings)
    order = np.lexsort((records["time"], records["doc"], query))
    records, query = records[order], query[order]
    starts = np.flatnonzero(_differs(records["doc"]) | _differs(query))
    counts = np.diff(starts, append=len(records))
    last = starts + counts - 1
    made, query = records[last], query[starts]
    half_life_s = half_life_days * DAY_S
    age = np.repeat(made["time"], counts) - records["time"]  # never below 0, so unsigned will do
    weight = np.exp2(-(age / half_life_s))
    ranks = [made["doc"]]
    for name in ("expected", "clicks"):
        made[name] = np.minimum(_sum(records[name] * weight, starts), _MAX_FLOAT)
        with np.errstate(divide="ignore"):
            ranks.append(-(np.log2(made[name].astype(np.float64)) + made["time"] / half_life_s))
    made = made[np.lexsort([*ranks, query])]
    sizes = np.bincount(query, minlength=len(strings))
    stops = np.cumsum(sizes).tolist()
    return [
        made[stop - size : stop][:max_docs].tobytes()
        for stop, size in zip(stops, sizes.tolist(), strict=True)
    ]


def _joined(strings: Sequence[bytes | None]) -> tuple[Records, NDArray[np.int64]]:
    """The records of all strings that are counts, and the position of the string of each; see `decode`."""
    parts = [part if part and len(part) % RECORD_BYTES == 0 else b"" for part in strings]
    records = np.frombuffer(b"".join(parts), RECORD)
    query = np.repeat(np.arange(len(parts)), [len(part) // RECORD_BYTES for part in parts])
    sound = _is_sound(records)
    return (records, query) if sound.all() else (records[sound], query[sound])


def _is_sound(records: Records) -> NDArray[np.bool_]:
    clicks, expected = records["clicks"], records["expected"]
    # NaN is neither.
    return (clicks >= 0) & (clicks <= _MAX_FLOAT) & (expected >= 0) & (expected <= _MAX_FLOAT)


def _by_document(doc: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The order by hash that leaves equals in theirs, as queries are; NumPy sorts 16 bits by radix."""
    order = np.arange(len(doc))
    for digits in np.ascontiguousarray(doc).view("<u2").reshape(-1, DOC_BYTES // 2).T:
        order = order[np.argsort(digits[order], kind="stable")]
    return order


def _differs(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each value is another than the one before it; the first is."""
    differs = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def _sum(values: NDArray[np.float64], starts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.add.reduceat(values, starts) if len(starts) else np.empty(0)
