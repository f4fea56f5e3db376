"""Many workers count clicks of one query at once, while it is looked up."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from opensearchpy import OpenSearch
from redis import Redis

from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import query_id
from trifuse.ranker.clicks.records import RECORD_BYTES, merged
from trifuse.ranker.clicks.store import ClickStore
from trifuse.ranker.keys import clicks_key
from trifuse.worker.clicks.counting import Counter
from trifuse.worker.clicks.items import Item

WRITERS, BATCHES, BATCH, DOCUMENTS = 4, 25, 100, 40
QUERY = query_id("hot query")


def test_nothing_is_lost_the_string_stays_bounded_and_readers_find_it(
    client: OpenSearch, redis_client: Redis, index_name: str
) -> None:
    """10,000 records of 40 documents: compaction keeps the string under a fifth of them at every moment.

    How far under depends on how long a compaction takes while the other writers append.
    """
    now = time.time()
    done = threading.Event()
    lengths: list[int] = []
    key = clicks_key(index_name, HALF_LIFE_DAYS, QUERY)

    def write(writer: int) -> int:
        counter = Counter(redis_client, index_name)
        counted = 0
        for batch in range(BATCHES):
            names = [f"{writer}-{batch}-{n}" for n in range(BATCH)]
            items = [
                Item(name, QUERY, now, (f"d{n % DOCUMENTS}",), (0.1,), visitor=f"v{name}")
                for n, name in enumerate(names)
            ]
            counted += len(counter.count(items).counted)
            lengths.append(redis_client.strlen(key))
        return counted

    def read() -> int:
        store, found = ClickStore(redis_client, client), 0
        while not done.is_set():
            evidence = store.lookup(index_name, "hot query", budget_s=5)
            assert evidence.state == "partial"  # it has no vector
            found += bool(evidence.scores)
        return found

    with ThreadPoolExecutor(WRITERS + 1) as threads:
        reader = threads.submit(read)
        counted = sum(threads.map(write, range(WRITERS)))
        done.set()
        assert reader.result() > 0
    assert counted == WRITERS * BATCHES * BATCH
    assert ClickStore(redis_client, client).lookup(index_name, "hot query", budget_s=5).frequency == counted
    raw = redis_client.execute_command("GET", key, NEVER_DECODE=[])
    sums = merged([raw], now, HALF_LIFE_DAYS)
    assert len(sums.docs) == DOCUMENTS
    assert sums.clicks.sum() == pytest.approx(counted, rel=1e-5)
    assert sums.expected.sum() == pytest.approx(counted * 0.1, rel=1e-5)
    assert max(lengths) <= WRITERS * BATCHES * BATCH * RECORD_BYTES / 5
