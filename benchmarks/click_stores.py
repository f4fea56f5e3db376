"""The click store beside plain sorted sets: filled with the same pairs, and counting the same events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeVar

import numpy as np
from past_clicks import PastClicks, clicked_ids
from ratio import Ratio
from redis import Redis
from simulator import popularity

from trifuse.deploy.local.ports import free_port
from trifuse.deploy.local.processes import stop
from trifuse.deploy.local.redis import start_redis
from trifuse.worker.clicks.counting import Click, Counter

MB = 1e6
T = TypeVar("T")


class Memory(NamedTuple):
    """Megabytes a million pairs, without marks; and what a million events' marks take."""

    pairs: Ratio
    marks: float


@dataclass
class TwoStores:
    """Two ways of counting clicks: ours in Redis' first database, sorted sets in its second.

    Args:
        events: that a round counts.
        batch: so many are counted together.
    """

    redis: Redis
    index: str
    past: PastClicks
    documents: Sequence[str]
    events: int = 20_000
    batch: int = 500
    counted: int = 0

    def __post_init__(self) -> None:
        self.peer = Redis.from_url(_url(self.redis, 1))
        self.counter = Counter(self.redis, self.index)
        self.shares = np.cumsum(popularity(len(self.past.vectors), self.events))
        self.rng = np.random.default_rng(2)

    def fill(self) -> Memory:
        """Count one click for every pair, and say what that takes of memory."""
        before = _used(self.redis)
        pairs = list(clicked_ids(self.documents, self.past))
        for group in _groups(self._clicks(pairs), self.batch):
            self.counter.count(group)
        full = _used(self.redis)
        for mark in ("seen", "visits"):
            for key in self.redis.scan_iter(match=f"trifuse:{{{self.index}}}:*:{mark}:*", count=10_000):
                self.redis.delete(key)
        bare = _used(self.redis)
        for group in _groups(pairs, self.batch):
            self._increment(group)
        millions = len(pairs) / 1e6
        ours, peer = (bare - before) / MB / millions, (_used(self.redis) - bare) / MB / millions
        ratio = ours / peer
        return Memory(Ratio(ours, peer, ratio, (ratio, ratio), "MB"), (full - bare) / MB / millions)

    def count(self) -> float:
        """Events a second of ours."""
        batches = list(_groups(self._clicks(self._drawn()), self.batch))
        return _rate(self.events, lambda: [self.counter.count(batch) for batch in batches])

    def increment(self) -> float:
        """Events a second of ZINCRBY."""
        batches = list(_groups(self._drawn(), self.batch))
        return _rate(self.events, lambda: [self._increment(batch) for batch in batches])

    def _increment(self, batch: Sequence[tuple[str, str]]) -> None:
        pipeline = self.peer.pipeline(transaction=False)
        for query, document in batch:
            pipeline.zincrby(f"clicks:{self.index}:{query}", 1.0, document)
        pipeline.execute()

    def _drawn(self) -> Iterator[tuple[str, str]]:
        """Clicks of one round: popular queries more often, of each query one of its documents."""
        queries = np.searchsorted(self.shares, self.rng.random(self.events) * self.shares[-1])
        places = self.rng.integers(self.past.documents.shape[1], size=self.events)
        for query, place in zip(queries.tolist(), places.tolist(), strict=True):
            yield self.past.id(query), self.documents[self.past.documents[query, place]]

    def _clicks(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Click]:
        now = time.time()
        for query, document in pairs:
            self.counted += 1
            yield Click(f"e{self.counted}", query, document, now)


@contextmanager
def own_redis() -> Iterator[Redis]:
    """A Redis of our own, as `trifuse up` starts it."""
    with TemporaryDirectory(prefix="trifuse-speed-", ignore_cleanup_errors=True) as folder:
        service = start_redis(Path(folder), port=free_port())
        try:
            with Redis.from_url(service.url) as redis:
                yield redis
        finally:
            stop(service.process)


def _url(redis: Redis, database: int) -> str:
    at = redis.connection_pool.connection_kwargs
    return f"redis://{at['host']}:{at['port']}/{database}"


def _used(redis: Redis) -> int:
    return int(redis.info("memory")["used_memory"])


def _rate(events: int, work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return events / (time.perf_counter() - start)


def _groups(items: Iterable[T], size: int) -> Iterator[list[T]]:
    source = iter(items)
    while group := list(islice(source, size)):
        yield group
