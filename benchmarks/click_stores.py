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
from trifuse.worker.clicks.counting import Counter
from trifuse.worker.clicks.items import Item

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
    rounds: int = 0

    def __post_init__(self) -> None:
        self.peer = Redis.from_url(url_of(self.redis, 1))
        self.counter = Counter(self.redis, self.index)
        self.shares = np.cumsum(popularity(len(self.past.vectors), self.events))
        self.rng = np.random.default_rng(2)

    def fill(self) -> Memory:
        """Count one click for every pair, and say what that takes of memory."""
        before = _used(self.redis)
        pairs = list(clicked_ids(self.documents, self.past))
        self._count(_groups(self._clicks(pairs), self.batch))
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
        batches = self.batches()
        return _rate(self.events, lambda: self._count(batches))

    def batches(self) -> list[list[Item]]:
        """A round's clicks, as many together as are counted together."""
        return list(_groups(self._clicks(list(self._drawn())), self.batch))

    def increment(self) -> float:
        """Events a second of ZINCRBY."""
        batches = list(_groups(self._drawn(), self.batch))
        return _rate(self.events, lambda: [self._increment(batch) for batch in batches])

    def _count(self, batches: Iterable[Sequence[Item]]) -> None:
        given = counted = 0
        for batch in batches:
            given += len(batch)
            counted += len(self.counter.count(batch).counted)
        if counted < 0.8 * given:  # a visitor's click on the same document again doesn't
            raise SystemExit(f"{counted} of {given} clicks were counted: this measures rejections")

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

    def _clicks(self, pairs: Sequence[tuple[str, str]]) -> Iterator[Item]:
        """Clicks on these, four by each visitor, spread over all."""
        self.rounds += 1
        now = time.time()
        for number, (query, document) in enumerate(pairs):
            visitor = f"v{self.rounds}-{number % max(1, len(pairs) // 4)}"
            yield click_item(f"e{self.rounds}-{number}", query, document, now, visitor)


def click_item(event: str, query: str, document: str, timestamp: float, visitor: str) -> Item:
    """A click as intake hands it to the counter."""
    return Item(event, query, timestamp, (document,), (0.0,), visitor=visitor)


@contextmanager
def own_redis() -> Iterator[Redis]:
    """A Redis of our own, as `trifuse up` starts it, but that it doesn't rewrite its log."""
    with TemporaryDirectory(prefix="trifuse-speed-", ignore_cleanup_errors=True) as folder:
        service = start_redis(Path(folder), port=free_port())
        try:
            with Redis.from_url(service.url) as redis:
                redis.config_set("auto-aof-rewrite-percentage", 0)  # it would stand in the memory measured
                yield redis
        finally:
            stop(service.process)


def url_of(redis: Redis, database: int = 0) -> str:
    """The URL of one of its databases."""
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
