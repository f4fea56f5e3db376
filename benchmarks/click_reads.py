"""Reading the clicks of a thousand past queries for one search: aggregated in Redis, or read packed.

    python benchmarks/click_reads.py --json

One search wants the sum over its past queries of weight · (clicks / clicks of the query's most clicked
document) for each document, and the best 200. Four ways of keeping the same clicks, and of reading them:

- `packed`: what trifuse does. A string of records a query; all strings come back by one MGET, and are added
  up in NumPy.
- `lua_packed`: the same strings, added up by a script in Redis.
- `lua_sorted_sets`: a sorted set a query, log2 of decayed clicks as score, added up by a script.
- `zunionstore`: a sorted set a query whose scores are shares already, so that clicks can't fade, nor be
  weighed otherwise: ZUNIONSTORE with weights, then the head of the result.

Printed for each: milliseconds until the search has its documents; milliseconds that Redis worked for it, by
its own count; how long another client's PING waited in the middle of it, beside what PINGs wait with nobody
reading; bytes that came back; bytes of memory a query. All ways find the same documents, which is checked.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from click_read_forms import Reads
from click_stores import own_redis, url_of
from redis import Redis

COMMANDS = {
    "packed": ("hget", "mget", "hmget"),
    "lua_packed": ("eval", "evalsha"),
    "lua_sorted_sets": ("eval", "evalsha"),
    "zunionstore": ("zunionstore", "zrevrange", "del"),
    "idle": (),
}
"""What each way sends; what a script calls is in the script's own time."""

Span = tuple[float, float]
"""When something began and ended, on the machine's monotonic clock."""


class Pings:
    """Another process's PINGs, one after the other; `end` stops it and says when each began and ended."""

    def __init__(self, url: str) -> None:
        self._ours, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_ping, args=(url, theirs))
        self._process.start()
        self._ours.recv()

    def end(self) -> list[Span]:
        self._ours.send(None)
        spans: list[Span] = self._ours.recv()
        self._process.join()
        return spans


def _ping(url: str, pipe: Any) -> None:
    redis, spans = Redis.from_url(url), []
    redis.ping()
    pipe.send(None)
    while not pipe.poll():
        started = time.monotonic()
        redis.ping()
        spans.append((started, time.monotonic()))
    pipe.send(spans)


def longest_ms(spans: Sequence[Span], pings: Sequence[Span]) -> float:
    """Of each span the longest PING in the middle of it, in milliseconds; the median of those."""
    starts, ends = np.array(pings).T
    found = []
    for start, end in spans:
        met = (starts < end) & (ends > start)
        found.append((ends - starts)[met].max(initial=0.0))
    return float(np.median(found)) * 1000.0


def measure(reads: Reads, keys: int, runs: int) -> dict[str, dict[str, float]]:
    """Read so many random past queries in every way in turn, and say what each took."""
    rng = np.random.default_rng(1)
    redis = reads.redis
    spans: dict[str, list[Span]] = {way: [] for way in [*reads.ways, "idle"]}
    worked, sent = dict.fromkeys(spans, 0.0), dict.fromkeys(spans, 0.0)
    pings = Pings(url_of(redis))
    try:
        for run in range(runs + 2):
            queries = rng.choice(len(reads.ids), keys, replace=False).tolist()
            similarities = rng.uniform(0.7, 1.0, keys)
            found = {}
            for way in spans:
                before = _busy(redis, way)
                started = time.monotonic()
                if way == "idle":
                    time.sleep(0.01)
                else:
                    found[way] = reads.ways[way](queries, similarities)
                span = (started, time.monotonic())
                after = _busy(redis, way)
                if run > 1:  # the first two load scripts, and names of documents
                    spans[way].append(span)
                    worked[way] += after[0] - before[0]
                    sent[way] += after[1] - before[1]
            _check_same(found)
    finally:
        seen = pings.end()
    memory = reads.bytes_a_query()
    return {
        way: {
            "median_ms": float(np.median([end - start for start, end in spans[way]])) * 1000.0,
            "p95_ms": float(np.percentile([end - start for start, end in spans[way]], 95)) * 1000.0,
            "redis_ms": worked[way] / runs,
            "ping_ms": longest_ms(spans[way], seen),
            "bytes": (sent[way] - sent["idle"]) / runs,
            "memory_bytes_a_query": memory.get(way, 0.0),
        }
        for way in spans
    }


def _busy(redis: Redis, way: str) -> tuple[float, float]:
    """Milliseconds that Redis worked for commands of this way, and bytes that it sent."""
    stats: dict[str, Any] = redis.info("commandstats")
    worked = sum(stats[f"cmdstat_{name}"]["usec"] for name in COMMANDS[way] if f"cmdstat_{name}" in stats)
    return worked / 1000.0, float(redis.info("stats")["total_net_output_bytes"])


def _check_same(found: dict[str, dict[str, float]]) -> None:
    expected = found["packed"]
    for way, scores in found.items():
        # The two hundredth may be another of the same score.
        same = [name for name in expected if abs(scores.get(name, 0.0) - expected[name]) < 1e-6]
        if len(same) < len(expected) - 2:
            raise SystemExit(f"{way} finds other documents than packed: {len(same)} of {len(expected)}")


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--queries", type=int, default=5000, help="past queries that are kept")
    parser.add_argument("--keys", type=int, default=1000, help="past queries that a search reads")
    parser.add_argument("--documents", type=int, default=50, help="clicked documents of each past query")
    parser.add_argument("--corpus", type=int, default=100_000, help="documents that they are of")
    parser.add_argument("--runs", type=int, default=30, help="searches")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    with own_redis() as redis:
        reads = Reads(redis, options.queries, options.documents, options.corpus)
        found = measure(reads, options.keys, options.runs)
    if options.json:
        print(json.dumps({"reads": found}, indent=2))
        return
    for way, values in found.items():
        print(f"{way:16}", *(f"{name} {value:.1f} " for name, value in values.items()))


if __name__ == "__main__":
    main()
