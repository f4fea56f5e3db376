"""Putting what was made anew from the events in the place of what is counted, while clicks come in."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from redis.client import NEVER_DECODE

from trifuse.ranker.clicks.records import doc_hash
from trifuse.ranker.keys import AGGREGATE_LIFETIME_S, clicks_key, docs_key, few_key, queries_key
from trifuse.worker.clicks.compaction import read_strings
from trifuse.worker.clicks.packing import visitor_mark
from trifuse.worker.clicks.replay import Replay

# KEYS: a query's records, the public queries, the others, the names of documents. ARGV: what stands there,
# what is to stand there ('' for nothing), lifetime, the query, how often it was clicked for ('' unless it is
# public), what the others know of it ('' unless it is one of them), then documents and their names. Does
# nothing, and returns 0, where something was counted meanwhile.
PUT = """
local call = redis.call
if (call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
local records, lifetime, query, total, few = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if records == '' then call('DEL', KEYS[1]) else call('SET', KEYS[1], records, 'EX', lifetime) end
if total == '' then
  call('HDEL', KEYS[2], query)
else
  call('HSET', KEYS[2], query, total)
  call('EXPIRE', KEYS[2], lifetime)
end
if few == '' then
  call('HDEL', KEYS[3], query)
else
  call('HSET', KEYS[3], query, few)
  call('EXPIRE', KEYS[3], lifetime)
end
for i = 7, #ARGV, 1000 do call('HSET', KEYS[4], unpack(ARGV, i, math.min(i + 999, #ARGV))) end
if #ARGV > 6 then call('EXPIRE', KEYS[4], lifetime) end
return 1
"""


class Restorer:
    """The click store of one index, as a rebuild writes it.

    Args:
        redis: a client of the click store.
        index: the search index or alias that the clicks belong to.
    """

    def __init__(self, redis: Any, index: str, half_life_days: float) -> None:
        self._redis = redis
        self._of = (index, half_life_days)
        self._put = redis.register_script(PUT)

    def strings(self, queries: Sequence[str]) -> dict[str, bytes]:
        """The records of each query, b"" where there are none."""
        keys = [clicks_key(*self._of, query) for query in queries]
        return dict(zip(queries, read_strings(self._redis, keys), strict=True))

    def put(self, query: str, replay: Replay, *, was: bytes) -> bytes | None:
        """Put what the events say of a query in the place of its records.

        Args:
            was: its records, before the events were read.

        Returns:
            its records now; None where clicks were counted since, and nothing was changed.
        """
        records = replay.records() if replay.clicks else b""
        total: int | str = replay.clicks if replay.public else ""
        few = b"" if replay.public or not replay.clicks else _few(replay)
        names = [part for doc in replay.docs for part in (doc_hash(doc), doc)]
        keys = [clicks_key(*self._of, query), queries_key(*self._of), few_key(*self._of), docs_key(*self._of)]
        done = self._put(keys=keys, args=[was, records, AGGREGATE_LIFETIME_S, query, total, few, *names])
        return records if done else None

    def queries(self, size: int) -> Iterator[list[str]]:
        """The past queries that are counted, about so many at a time; some may come twice."""
        for key in (queries_key(*self._of), few_key(*self._of)):
            cursor = 0
            while True:
                # What is kept of the others is no text.
                cursor, page = self._redis.execute_command(
                    "HSCAN", key, cursor, "COUNT", size, **{NEVER_DECODE: []}
                )
                if page:
                    yield [name.decode() for name in page]
                if cursor == 0:
                    break


def _few(replay: Replay) -> bytes:
    """What is kept of a query that isn't public: its clicks, those of strangers, marks of the others."""
    marks = b"".join(sorted(map(visitor_mark, replay.visitors)))
    return struct.pack("<II", min(replay.clicks, 2**32 - 1), replay.strangers) + marks
