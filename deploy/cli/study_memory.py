"""What the click log takes: memory in Redis, disk in OpenSearch."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from opensearchpy import OpenSearch
from redis.client import NEVER_DECODE

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.keys import clicks_key
from trifuse.worker.clicks.indexes import events_index

SAMPLE = 20_000
"""So many past queries are weighed; more are estimated from them."""

_BATCH = 1_000
_ELEMENTS = 1_000
"""So many elements of a hash or set are weighed by Redis to estimate all."""


@dataclass(frozen=True)
class LogMemory:
    """What a click log takes.

    Args:
        past_queries: queries that something was clicked for, public or not.
        pairs: of a past query and a document that was clicked for it.
        redis: bytes by kind of key: `q` (what was clicked), `docs`, `queries`, `few`, `seen` and `visits`
            (marks of 8 days).
        opensearch: bytes of the primary shards by index.
        estimated: whether queries, pairs and the bytes of `q` are estimates from a sample.
    """

    past_queries: int
    pairs: int
    redis: dict[str, int]
    opensearch: dict[str, int]
    estimated: bool

    def as_dict(self) -> dict[str, Any]:
        """For JSON; bytes per pair and per past query are null where there are none."""
        totals = self.totals
        per_pair = {name: total / self.pairs if self.pairs else None for name, total in totals.items()}
        per_query = {
            name: total / self.past_queries if self.past_queries else None for name, total in totals.items()
        }
        sums = {"bytes": totals, "bytes_per_pair": per_pair, "bytes_per_past_query": per_query}
        return {**asdict(self), **sums}

    @property
    def totals(self) -> dict[str, int]:
        """Bytes of each store."""
        return {"redis": sum(self.redis.values()), "opensearch": sum(self.opensearch.values())}


def log_memory(
    redis: Any,
    client: OpenSearch,
    index: str,
    *,
    sample: int = SAMPLE,
    progress: Callable[[int], None] | None = None,
) -> LogMemory:
    """Weigh the click log of an index. Commands are short, so others are served in between.

    Args:
        redis: a client of the click store.
        sample: how many past queries are weighed at most.
        progress: called with the number of keys that were found so far.

    Raises:
        RedisError: the click store doesn't answer, or refuses MEMORY USAGE.
    """
    kinds: dict[str, list[str]] = {}
    prefix = clicks_key(index, HALF_LIFE_DAYS, "").removesuffix("q:")
    pattern = re.sub(r"([\[\]*?\\^])", r"\\\1", prefix) + "*"
    for number, key in enumerate(redis.scan_iter(match=pattern, count=10_000), start=1):
        kinds.setdefault(key[len(prefix) :].split(":")[0], []).append(key)
        if progress is not None and number % _BATCH == 0:
            progress(number)
    queries = kinds.pop("q", [])
    weighed = queries if len(queries) <= sample else random.Random(0).sample(queries, sample)  # noqa: S311
    times = len(queries) / len(weighed) if weighed else 0.0
    sizes = {"q": round(times * sum(_weights(redis, weighed)))}
    sizes |= {kind: sum(_weights(redis, keys)) for kind, keys in kinds.items()}
    clicked, pairs = _clicked(redis, weighed)
    return LogMemory(
        past_queries=round(times * clicked),
        pairs=round(times * pairs),
        redis=sizes,
        opensearch=_stored(client, index),
        estimated=len(weighed) < len(queries),
    )


def _weights(redis: Any, keys: Sequence[str]) -> Iterator[int]:
    for batch in _batches(keys):
        pipeline = redis.pipeline(transaction=False)
        for key in batch:
            pipeline.memory_usage(key, samples=_ELEMENTS)
        yield from (size or 0 for size in pipeline.execute())


def _clicked(redis: Any, keys: Sequence[str]) -> tuple[int, int]:
    """Of some past queries: how many were clicked for (others were only shown something), and the pairs."""
    queries = pairs = 0
    for batch in _batches(keys):
        pipeline = redis.pipeline(transaction=False)
        for key in batch:
            pipeline.execute_command("GET", key, **{NEVER_DECODE: True})
        sums = merged(pipeline.execute(), time.time(), HALF_LIFE_DAYS)
        clicked = sums.query[sums.clicks > 0]
        queries += len(np.unique(clicked))
        pairs += len(clicked)
    return queries, pairs


def _batches(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + _BATCH] for start in range(0, len(keys), _BATCH))


def _stored(client: OpenSearch, index: str) -> dict[str, int]:
    names = (queries_index(index), events_index(index))
    stats = client.indices.stats(
        index=",".join(names), metric="store", params={"ignore_unavailable": "true"}
    )["indices"]
    return {name: int(found["primaries"]["store"]["size_in_bytes"]) for name, found in stats.items()}
