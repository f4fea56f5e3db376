"""Compaction: a query's string with one record a document, in the place of what grew by appending.

A worker reads the string and adds it up; the script puts the result in the place of what was read, if that
still stands there, and keeps what was appended meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from redis.client import NEVER_DECODE

from trifuse.ranker.click_records import compacted
from trifuse.ranker.keys import AGGREGATE_LIFETIME_S

COMPACT_FROM = 64
"""A string is looked at when it reaches so many records, and at each power of two times as many."""

_WORTH = 0.75
"""What isn't shorter than this share of what was read is left: else a query with 63 documents would be
compacted with every click."""

# KEYS: a query's records. ARGV: what was read, what is to stand there, lifetime.
COMPACT = """
local now = redis.call('GET', KEYS[1])
if not now or string.sub(now, 1, #ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2] .. string.sub(now, #ARGV[1] + 1), 'EX', ARGV[3])
return 1
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
        for key, was in zip(keys, read_strings(self._redis, keys), strict=True):
            made = compacted(was, self._half_life_days, self._max_docs)
            if len(made) <= _WORTH * len(was):
                self._compact(keys=[key], args=[was, made, AGGREGATE_LIFETIME_S])


def read_strings(redis: Any, keys: Sequence[str]) -> list[bytes]:
    """The strings under these keys as bytes, b"" where there is none; the client may be one that decodes."""
    if not keys:
        return []
    found = redis.execute_command("MGET", *keys, **{NEVER_DECODE: []})
    return [value or b"" for value in found]
