"""Counting clicks in Redis: each event once, whatever is delivered again, in one script for a batch.

An event's mark of being counted and what it adds are written by the same script, so that nothing can come
between them. Only commands of Redis 6.2.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from trifuse.ranker.decay import HALF_LIFE_DAYS, MIN_HALF_LIFE_DAYS, log2_weight
from trifuse.ranker.keys import (
    AGGREGATE_LIFETIME_S,
    SEEN_LIFETIME_S,
    clicks_key,
    queries_key,
    seen_key,
)

# KEYS: the queries of the index, then the day sets and the queries' documents, which events name by position.
# ARGV: settings and events, as MessagePack. Returned: the positions of the events that were counted now (from
# 0), how many queries and pairs of query and document are new; for each query named, how often it was clicked
# for; the queries that had to make room.
COUNT = """
local s, events = cmsgpack.unpack(ARGV[1]), cmsgpack.unpack(ARGV[2])
local counted, days, queries, new_queries, new_pairs = {}, {}, {}, 0, 0
for i, e in ipairs(events) do
  local day, clicks, event, doc, weight, count, query = unpack(e)
  days[day], queries[clicks] = true, query
  if redis.call('SADD', KEYS[day], event) == 1 then
    counted[#counted + 1] = i - 1
    local sum = redis.call('ZSCORE', KEYS[clicks], doc)
    if sum then
      sum = tonumber(sum)
      local high, low = math.max(sum, weight), math.min(sum, weight)
      weight = high + math.log(1 + 2 ^ (low - high)) / math.log(2)
    end
    new_pairs = new_pairs + redis.call('ZADD', KEYS[clicks], string.format('%.17g', weight), doc)
    if tonumber(redis.call('ZINCRBY', KEYS[1], count, query)) == count then new_queries = new_queries + 1 end
  end
end
for day in pairs(days) do redis.call('EXPIRE', KEYS[day], s.seen_s) end
local totals = {}
for clicks, query in pairs(queries) do
  if redis.call('ZCARD', KEYS[clicks]) > 2 * s.max_docs then
    redis.call('ZREMRANGEBYRANK', KEYS[clicks], 0, -s.max_docs - 1)
  end
  redis.call('EXPIRE', KEYS[clicks], s.aggregate_s)
  totals[#totals + 1] = query
  totals[#totals + 1] = redis.call('ZSCORE', KEYS[1], query) or '0'
end
redis.call('EXPIRE', KEYS[1], s.aggregate_s)
local dropped = {}
local over = redis.call('ZCARD', KEYS[1]) - s.max_queries
if over > 0 then
  local popped = redis.call('ZPOPMIN', KEYS[1], over)
  for i = 1, #popped, 2 do dropped[#dropped + 1] = popped[i] end
end
return {counted, new_queries, new_pairs, totals, dropped}
"""

# KEYS: the queries of the index, one query's documents. ARGV: lifetime, the query, how often it was clicked
# for when the log was read ('' for never), how often it is to be, then weights and documents. Does nothing,
# and returns 0, where a click was counted since.
REPLACE = """
local then_, now_ = ARGV[3], redis.call('ZSCORE', KEYS[1], ARGV[2]) or ''
if now_ ~= then_ then return 0 end
redis.call('DEL', KEYS[2])
for i = 5, #ARGV, 1000 do
  redis.call('ZADD', KEYS[2], unpack(ARGV, i, math.min(i + 999, #ARGV)))
end
redis.call('EXPIRE', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[1], ARGV[4], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
"""


class Click(msgspec.Struct, frozen=True):
    """What of an event is counted. `timestamp` in seconds since 1970."""

    event: str
    query: str
    doc: str
    timestamp: float
    count: int = 1


class Counted(msgspec.Struct, frozen=True):
    """What became of a batch.

    Args:
        positions: those of the clicks that were counted now; the others had been before.
        queries, pairs: how many past queries, and pairs of query and document, are new.
        totals: past query's id to how often it was clicked for, of every query in the batch.
    """

    positions: frozenset[int] = frozenset()
    queries: int = 0
    pairs: int = 0
    totals: Mapping[str, int] = {}


class Counter:
    """Counts clicks of one index.

    Args:
        redis: a client of the click store.
        index: the search index or alias that the clicks belong to.
        half_life_days: the time in which a click loses half of its weight.
        max_docs: so many documents of a query are kept, and up to twice as many before the least are dropped.
        max_queries: of more queries, those with the fewest clicks are dropped.

    Raises:
        ValueError: a half-life under an hour.
    """

    def __init__(
        self,
        redis: Any,
        index: str,
        *,
        half_life_days: float = HALF_LIFE_DAYS,
        max_docs: int = 200,
        max_queries: int = 1_000_000,
    ) -> None:
        if half_life_days < MIN_HALF_LIFE_DAYS:
            raise ValueError(
                f"a half-life of {half_life_days} days can't be kept exactly: expected an hour or more"
            )
        self.index = index
        self.half_life_days = half_life_days
        self.max_docs = max_docs
        self.redis = redis
        self._count = redis.register_script(COUNT)
        self._replace = redis.register_script(REPLACE)
        self._queries_key = queries_key(index, half_life_days)
        self._settings = msgspec.msgpack.encode(
            {
                "seen_s": SEEN_LIFETIME_S,
                "aggregate_s": AGGREGATE_LIFETIME_S,
                "max_docs": max_docs,
                "max_queries": max_queries,
            }
        )

    def count(self, clicks: Sequence[Click]) -> Counted:
        """Count each click that wasn't counted before; a few hundred at a time, as Redis waits for it."""
        if not clicks:
            return Counted()
        keys: dict[str, int] = {self._queries_key: 1}

        def place(key: str) -> int:
            return keys.setdefault(key, len(keys) + 1)

        events = [
            (
                place(self.seen_key(click.timestamp)),
                place(self.clicks_key(click.query)),
                _mark(click.event),
                click.doc,
                log2_weight(click.timestamp, self.half_life_days, click.count),
                click.count,
                click.query,
            )
            for click in clicks
        ]
        positions, queries, pairs, totals, dropped = self._count(
            keys=list(keys), args=[self._settings, msgspec.msgpack.encode(events)]
        )
        if dropped:
            self.redis.unlink(*(self.clicks_key(_text(query)) for query in dropped))
        return Counted(
            frozenset(int(position) for position in positions),
            int(queries),
            int(pairs),
            {_text(totals[i]): int(float(totals[i + 1])) for i in range(0, len(totals), 2)},
        )

    def totals(self, queries: Sequence[str]) -> list[float | None]:
        """How often each past query was clicked for; None where it is unknown."""
        return list(self.redis.zmscore(self._queries_key, list(queries))) if queries else []

    def queries(self, size: int) -> Iterator[list[str]]:
        """The past queries that are counted, about so many at a time; some may come twice."""
        cursor = 0
        while True:
            cursor, page = self.redis.zscan(self._queries_key, cursor, count=size)
            if page:
                yield [_text(query) for query, _ in page]
            if cursor == 0:
                return

    def mark_seen(self, clicks: Sequence[Click]) -> None:
        """Mark clicks as counted, without counting them."""
        days: dict[str, list[str]] = defaultdict(list)
        for click in clicks:
            days[self.seen_key(click.timestamp)].append(_mark(click.event))
        pipeline = self.redis.pipeline(transaction=False)
        for key, events in days.items():
            pipeline.sadd(key, *events)
            pipeline.expire(key, SEEN_LIFETIME_S)
        pipeline.execute()

    def replace(self, query: str, docs: Mapping[str, float], total: int, *, was: float | None) -> bool:
        """Put a query's documents in the place of what was counted, at once.

        Args:
            docs: document id to log2 of its decayed clicks.
            total: how often the query was clicked for.
            was: what `totals` said before the log was read.

        Returns:
            False where clicks were counted since: nothing is changed then.
        """
        kept = sorted(docs.items(), key=lambda item: (-item[1], item[0]))[: self.max_docs]
        members = [part for doc, weight in kept for part in (repr(weight), doc)]
        was_text = "" if was is None else _score(was)
        args = [AGGREGATE_LIFETIME_S, query, was_text, total, *members]
        return bool(self._replace(keys=[self._queries_key, self.clicks_key(query)], args=args))

    def forget(self, queries: Sequence[str]) -> None:
        """Drop queries and what was clicked for them."""
        if queries:
            self.redis.unlink(*(self.clicks_key(query) for query in queries))
            self.redis.zrem(self._queries_key, *queries)

    def clicks_key(self, query: str) -> str:
        """The key of the documents clicked for a past query."""
        return clicks_key(self.index, self.half_life_days, query)

    def seen_key(self, timestamp: float) -> str:
        """The key of the marks of that time's day."""
        return seen_key(self.index, self.half_life_days, timestamp)


def _mark(event: str) -> str:
    """What stands for an event among those of its day: 64 bits of a hash (Redis reads no binary MessagePack).

    Of a million events in a day, two are taken for one in one of ten million such days.
    """
    return base64.b64encode(hashlib.blake2b(event.encode(), digest_size=8).digest())[:11].decode()


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _score(value: float) -> str:
    """A score as Redis writes a whole number."""
    return str(int(value)) if math.isfinite(value) and value == int(value) else repr(value)
