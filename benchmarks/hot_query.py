"""Ten thousand clicks a second for one query: what readers notice of it, and whether anything is lost.

    python benchmarks/hot_query.py [--rate 10000] [--seconds 10] [--json]

A process of its own counts clicks as intake does, in batches, at a steady rate: each of another visitor, on
documents of which a few are clicked most. Meanwhile lookups of that query follow one another without a pause,
as they did before on the quiet store. At the end every click must be counted, the sum of what the documents
have must be that number (less what faded in these seconds), and the query's string must have stayed small.
Redis is a process of its own; OpenSearch isn't needed. Exit status 1 where something was lost.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.queues import SimpleQueue
from multiprocessing.synchronize import Event
from typing import Any

import numpy as np
from click_stores import click_item, own_redis, url_of
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker import ClickStore
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import normalize_query, query_id
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.counting import Counter

INDEX = "hot"
QUERY = "influenza vaccine"
QUIET_S = 2.0


def write(
    url: str, rate: float, seconds: float, documents: int, batch: int, go: Event, took: SimpleQueue[float]
) -> None:
    """Count clicks at that rate, and say how many seconds it took."""
    counter = Counter(Redis.from_url(url), INDEX)
    query = query_id(normalize_query(QUERY))
    popular = np.random.default_rng(0).zipf(1.5, size=int(rate * seconds)) % documents
    now = time.time()
    batches = [
        [
            click_item(f"e{first + n}", query, f"d{doc}", now, f"v{first + n}")
            for n, doc in enumerate(popular[first : first + batch].tolist())
        ]
        for first in range(0, len(popular), batch)
    ]
    go.wait()
    start = time.monotonic()
    for number, clicks in enumerate(batches):
        time.sleep(max(0.0, start + number * batch / rate - time.monotonic()))
        counter.count(clicks)
    took.put(time.monotonic() - start)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Read while it is quiet, then while another process writes."""
    query = query_id(normalize_query(QUERY))
    key = clicks_key(INDEX, HALF_LIFE_DAYS, query)
    with own_redis() as redis:
        now = time.time()
        store = ClickStore(redis, OpenSearch())  # without a vector no past queries are searched
        Counter(redis, INDEX).count(
            [click_item(f"first{n}", query, f"d{n}", now, f"first{n}") for n in range(options.documents)]
        )
        quiet = _read(store, _until(time.monotonic() + QUIET_S))
        context = get_context("spawn")
        go, wrote = context.Event(), context.SimpleQueue()
        writer = context.Process(
            target=write,
            args=(
                url_of(redis),
                options.rate,
                options.seconds,
                options.documents,
                options.batch,
                go,
                wrote,
            ),
        )
        writer.start()
        time.sleep(2.0)  # it makes its clicks
        longest = 0

        def writing() -> bool:
            nonlocal longest
            longest = max(longest, redis.strlen(key))
            return writer.is_alive()

        go.set()
        hot = _read(store, writing)
        writer.join()
        took = wrote.get() if writer.exitcode == 0 else math.inf
        events = int(options.rate * options.seconds) + options.documents
        counted = int(clicks_counted(redis.hget(queries_key(INDEX, HALF_LIFE_DAYS), query)) or 0)
        sums = merged([redis.get(key)], time.time(), HALF_LIFE_DAYS)
        left = 2 ** -((time.time() - now + 1) / (HALF_LIFE_DAYS * 86_400))  # the others faded since the start
        clicks = float(sums.clicks.sum())
        return {
            "events": events,
            "counted": counted,
            "clicks": clicks,
            "lost": writer.exitcode != 0
            or counted != events
            or not events * left * (1 - 1e-6) <= clicks <= events * (1 + 1e-6),
            "events_s": (events - options.documents) / took,
            "longest_bytes": longest,
            "final_bytes": redis.strlen(key),
            "quiet": _percentiles(quiet),
            "hot": _percentiles(hot),
        }


def _until(end: float) -> Callable[[], bool]:
    return lambda: time.monotonic() < end


def _read(store: ClickStore, more: Callable[[], bool]) -> list[float]:
    """Milliseconds of lookups, one after another."""
    took = []
    while more():
        start = time.perf_counter()
        evidence = store.lookup(INDEX, QUERY, budget_s=10.0)
        took.append((time.perf_counter() - start) * 1000)
        if not evidence.scores:
            raise SystemExit(f"a lookup found nothing: {evidence.reason}")
    return took


def _percentiles(took: Sequence[float]) -> dict[str, float]:
    p50, p95, p99 = np.percentile(took, [50, 95, 99])
    return {
        "lookups": len(took),
        "p50_ms": float(p50),
        "p95_ms": float(p95),
        "p99_ms": float(p99),
        "max_ms": max(took),
    }


def main() -> None:
    """Measure, and say what came out."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rate", type=float, default=10_000, help="clicks a second")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--documents", type=int, default=150, help="that are clicked for the query")
    parser.add_argument("--batch", type=int, default=500)
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    found = measure(options)
    if options.json:
        print(json.dumps(found, indent=2))
    else:
        for name, value in found.items():
            print(f"{name}: {value}")
    sys.exit(bool(found["lost"]))


if __name__ == "__main__":
    main()
