"""The same clicks kept in three forms, and four ways of reading them for a search (see click_reads.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from redis import Redis

from trifuse.ranker.clicks.evidence import Clicks
from trifuse.ranker.clicks.lookup import Lookup, PastQuery
from trifuse.ranker.clicks.names import DocumentNames
from trifuse.ranker.clicks.reads import read_clicks, read_names
from trifuse.ranker.clicks.records import RECORD, doc_hash
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.weights import softmax
from trifuse.ranker.keys import DAY_S, clicks_key, docs_key

INDEX = "reads"
HALF_LIFE = 90.0
NOW = 1_750_000_000.0
KEEP = 200
UNION = "trifuse:{reads}:union"

# KEYS: the strings. ARGV: how many documents to return, now and the half-life in seconds, a weight a string.
LUA_PACKED = """
local keep, now, half_life = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local sub, unpack_, sums, ids = string.sub, struct.unpack, {}, {}
for i, key in ipairs(KEYS) do
  local data, clicks, best, order = redis.call('GET', key) or '', {}, 0, {}
  for at = 1, #data, 20 do
    local doc = sub(data, at, at + 7)
    local time, count = unpack_('<I4f', data, at + 8)
    local sum = clicks[doc]
    if not sum then order[#order + 1] = doc; sum = 0 end
    sum = sum + count * 2 ^ ((time - now) / half_life)
    clicks[doc] = sum
    if sum > best then best = sum end
  end
  local weight = tonumber(ARGV[i + 3]) / best
  for _, doc in ipairs(order) do
    local sum = sums[doc]
    if not sum then ids[#ids + 1] = doc; sum = 0 end
    sums[doc] = sum + weight * clicks[doc]
  end
end
table.sort(ids, function(a, b)
  if sums[a] ~= sums[b] then return sums[a] > sums[b] end
  return a < b
end)
local result = {}
for i = 1, math.min(keep, #ids) do
  result[2 * i - 1] = redis.call('HGET', ARGV[#ARGV], ids[i])
  result[2 * i] = string.format('%.17g', sums[ids[i]])
end
return result
"""

# KEYS: the sorted sets. ARGV: how many documents to return, then a weight a set.
LUA_SORTED_SETS = """
local keep, sums, ids = tonumber(ARGV[1]), {}, {}
for i, key in ipairs(KEYS) do
  local found = redis.call('ZREVRANGE', key, 0, -1, 'WITHSCORES')
  local weight, best = tonumber(ARGV[i + 1]), tonumber(found[2])
  for j = 1, #found, 2 do
    local id, sum = found[j], sums[found[j]]
    if not sum then ids[#ids + 1] = id; sum = 0 end
    sums[id] = sum + weight * 2 ^ (tonumber(found[j + 1]) - best)
  end
end
table.sort(ids, function(a, b)
  if sums[a] ~= sums[b] then return sums[a] > sums[b] end
  return a < b
end)
local result = {}
for i = 1, math.min(keep, #ids) do
  result[2 * i - 1] = ids[i]
  result[2 * i] = string.format('%.17g', sums[ids[i]])
end
return result
"""

Scores = dict[str, float]
Way = Callable[[Sequence[int], NDArray[np.float64]], Scores]
"""Reads these past queries, of these similarities."""


class Reads:
    """The clicks of so many past queries, each on so many documents of a corpus.

    Args:
        redis: takes all three forms of them.
        ways: by name; each reads past queries by their numbers and similarities.
    """

    def __init__(self, redis: Redis, queries: int, documents: int, corpus: int) -> None:
        self.redis = redis
        self.ids = [f"{number:024x}" for number in range(queries)]
        self.names = DocumentNames()
        self.settings = ClickSettings(m=10_000, weighting="share", doubt=-1e9, support=0.0, candidates=KEEP)
        self.lua_packed = redis.register_script(LUA_PACKED)
        self.lua_sorted_sets = redis.register_script(LUA_SORTED_SETS)
        self.ways: dict[str, Way] = {
            "packed": self._packed,
            "lua_packed": self._lua_packed,
            "lua_sorted_sets": self._lua_sorted_sets,
            "zunionstore": self._zunionstore,
        }
        self._fill(documents, corpus)

    def bytes_a_query(self) -> dict[str, float]:
        """What each form takes of memory, the names of keys and documents included."""
        sample = self.ids[:: max(1, len(self.ids) // 200)]

        def used(key: Callable[[str], str]) -> float:
            return float(np.mean([self.redis.memory_usage(key(each), samples=0) for each in sample]))

        packed, logs, shares = used(_packed_key), used(_log_key), used(_share_key)
        return {"packed": packed, "lua_packed": packed, "lua_sorted_sets": logs, "zunionstore": shares}

    def _fill(self, documents: int, corpus: int) -> None:
        rng = np.random.default_rng(0)
        names = [f"NCT{number:08d}" for number in range(corpus)]
        hashes = [doc_hash(name) for name in names]
        numbers = np.frombuffer(b"".join(hashes), "<u8")
        for start in range(0, corpus, 10_000):
            some = slice(start, start + 10_000)
            self.redis.hset(
                docs_key(INDEX, HALF_LIFE), mapping=dict(zip(hashes[some], names[some], strict=True))
            )
        for start in range(0, len(self.ids), 500):
            pipeline = self.redis.pipeline(transaction=False)
            for query in self.ids[start : start + 500]:
                chosen = rng.choice(corpus, documents, replace=False)
                records = np.zeros(documents, RECORD)
                records["doc"] = numbers[chosen]
                records["time"] = NOW - rng.integers(0, 400 * DAY_S, documents)
                records["clicks"] = rng.integers(1, 50, documents)
                pipeline.set(_packed_key(query), records.tobytes())
                log2 = np.log2(records["clicks"].astype(np.float64)) + records["time"] / (HALF_LIFE * DAY_S)
                docs = [names[place] for place in chosen]
                pipeline.zadd(_log_key(query), dict(zip(docs, log2.tolist(), strict=True)))
                shares = np.exp2(log2 - log2.max()).tolist()
                pipeline.zadd(_share_key(query), dict(zip(docs, shares, strict=True)))
            pipeline.execute()

    def _packed(self, queries: Sequence[int], similarities: NDArray[np.float64]) -> Scores:
        past = [
            PastQuery(self.ids[number], "", value)
            for number, value in zip(queries, similarities.tolist(), strict=True)
        ]
        strings, _ = read_clicks(self.redis, INDEX, HALF_LIFE, [each.id for each in past], "unknown")
        lookup = Lookup(PastQuery("unknown", "unknown", 1.0), "cosine", self.settings)
        clicks = Clicks.read(lookup, past, strings, half_life_days=HALF_LIFE)
        pool = clicks.pool()
        names = self.names.ids(
            clicks.hashes(pool), lambda docs: read_names(self.redis, INDEX, HALF_LIFE, docs)
        )
        return clicks.named(pool, names).scores(clicks.shares())

    def _lua_packed(self, queries: Sequence[int], similarities: NDArray[np.float64]) -> Scores:
        keys = [_packed_key(self.ids[number]) for number in queries]
        args = [KEEP, NOW, HALF_LIFE * DAY_S, *_weights(similarities), docs_key(INDEX, HALF_LIFE)]
        return _pairs(self.lua_packed(keys=keys, args=args))

    def _lua_sorted_sets(self, queries: Sequence[int], similarities: NDArray[np.float64]) -> Scores:
        keys = [_log_key(self.ids[number]) for number in queries]
        return _pairs(self.lua_sorted_sets(keys=keys, args=[KEEP, *_weights(similarities)]))

    def _zunionstore(self, queries: Sequence[int], similarities: NDArray[np.float64]) -> Scores:
        keys = [_share_key(self.ids[number]) for number in queries]
        pipeline = self.redis.pipeline(transaction=True)
        pipeline.zunionstore(UNION, dict(zip(keys, _weights(similarities), strict=True)))
        pipeline.zrevrange(UNION, 0, KEEP - 1, withscores=True)
        pipeline.delete(UNION)
        return {name.decode(): score for name, score in pipeline.execute()[1]}


def _packed_key(query: str) -> str:
    return clicks_key(INDEX, HALF_LIFE, query)


def _log_key(query: str) -> str:
    return clicks_key(INDEX, HALF_LIFE, f"log2:{query}")


def _share_key(query: str) -> str:
    return clicks_key(INDEX, HALF_LIFE, f"share:{query}")


def _weights(similarities: NDArray[np.float64]) -> list[float]:
    weights: list[float] = softmax(similarities, 0.05).tolist()
    return weights


def _pairs(flat: Sequence[bytes]) -> Scores:
    return {flat[i].decode(): float(flat[i + 1]) for i in range(0, len(flat), 2)}
