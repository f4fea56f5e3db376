"""Compaction: a query's string with one record a document, in the place of what grew by appending.

A worker reads the string and adds it up; the script puts the result in the place of what was read, if that
still stands there, and keeps what was appended meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from redis.client import NEVER_DECODE

from trifuse.ranker.clicks.records import compacted_all
from trifuse.ranker.keys import AGGREGATE_LIFETIME_S

COMPACT_FROM = 64
"""A string is looked at when it reaches so many records, and at each power of two times as many."""

_WORTH = 0.75
"""What isn't shorter than this share of what was read is left: else a query with 63 documents would be
compacted with every click."""

# KEYS: queries' records. ARGV: lifetime, then of each query what was read and what is to stand there.
COMPACT = """
for i = 1, #KEYS do
  local now, was, made = redis.call('GET', KEYS[i]), ARGV[2 * i], ARGV[2 * i + 1]
  if now and string.sub(now, 1, #was) == was then
    redis.call('SET', KEYS[i], made .. string.sub(now, #was + 1), 'EX', ARGV[1])
  end
end
"""


class Compactor:
    """Compacts the records of queries.

    Args:
        redis: a client of the click store.
        half_life_days: the half-life of the clicks.
        max_docs: so many documents of a query are kept, the most clicked.
    """

    def __init__(self, redis: Any, half_life_days: float, max_docs: int) -> None:
        self._redis = redis
        self._half_life_days = half_life_days
        self._max_docs = max_docs
        self._compact = redis.register_script(COMPACT)

    def compact(self, keys: Sequence[str]) -> None:
        """Compact the strings under these keys, where it is worth it."""
        found = read_strings(self._redis, keys)
        made = compacted_all(found, self._half_life_days, self._max_docs) if found else []
        shorter = {
            key: (was, now)
            for key, was, now in zip(keys, found, made, strict=True)
            if len(now) <= _WORTH * len(was)
        }
        if shorter:
            strings = chain.from_iterable(shorter.values())
            self._compact(keys=list(shorter), args=[AGGREGATE_LIFETIME_S, *strings])


def read_strings(redis: Any, keys: Sequence[str]) -> list[bytes]:
    """The strings under these keys as bytes, b"" where there is none; the client may be one that decodes."""
    if not keys:
        return []
    found = redis.execute_command("MGET", *keys, **{NEVER_DECODE: []})
    return [value or b"" for value in found]
