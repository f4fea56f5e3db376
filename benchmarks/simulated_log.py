"""A log of simulated visitors, taken in by the product, and what the click store then holds."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nfcorpus import Corpus, embed_all, load_documents, tell
from opensearchpy import OpenSearch
from redis import Redis
from redis.client import NEVER_DECODE
from simulator import simulate

from trifuse.encoder.types import Encoder
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.decay import HALF_LIFE_DAYS
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.ranker.clicks.reads import clicks_counted
from trifuse.ranker.clicks.records import merged
from trifuse.ranker.evaluation import rank_all
from trifuse.ranker.evaluation.frequencies import log_frequencies, query_segments
from trifuse.ranker.keys import clicks_key, queries_key
from trifuse.worker.clicks.events import ClickEvent
from trifuse.worker.clicks.intake import Intake
from trifuse.worker.clicks.positions import save_curve
from trifuse.worker.clicks.rates import estimate
from trifuse.worker.clicks.rebuild import rebuild

PAGE = 20
BATCH = 500


@dataclass
class SimulatedLog:
    """An index of the corpus, and the clicks of its simulated visitors.

    Args:
        index: a name that is free.
        pages: query to the documents that visitors see, best first.
    """

    client: OpenSearch
    redis: Redis
    encoder: Encoder
    index: str
    corpus: Corpus
    pages: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def queries(self) -> dict[str, str]:
        """All queries that visitors ask: id to text."""
        return {**self.corpus.log_queries, **self.corpus.queries}

    @property
    def judgements(self) -> dict[str, Mapping[str, int]]:
        """Of all queries."""
        return {**self.corpus.log, **self.corpus.qrels}

    def ranker(self) -> HybridRanker:
        """Over the index and its clicks."""
        return HybridRanker(self.client, self.encoder, ClickStore(self.redis, self.client))

    def fill(self, *, seed: int, sessions: int, drift: float, end: float) -> dict[str, Any]:
        """Index the documents, let BM25 rank them, simulate, and take the events in; what became of them."""
        load_documents(self.client, self.encoder, self.index, self.corpus.documents)
        lexical = Profile(name="bm25", weights={"lexical": 1.0})
        self.pages = rank_all(self.ranker(), self.index, self.queries, profile=lexical, depth=PAGE).documents
        tell(f"{len(self.pages)} queries ranked by BM25")
        events = simulate(
            self.queries, self.judgements, self.pages, seed=seed, sessions=sessions, drift=drift, end=end
        )
        found = self.take(events)
        self.client.indices.refresh(index=queries_index(self.index))
        self.embed_past_queries()
        segments = query_segments(log_frequencies(self.redis, self.index, self.queries))
        return {**found, "segments": dict(Counter(segments.values()))}

    def take(self, events: Iterator[ClickEvent]) -> dict[str, Any]:
        """Take events in as the product does."""
        intake = Intake(self.client, self.redis, self.index)
        started, taken = time.monotonic(), 0

        def counted() -> Iterator[ClickEvent]:
            nonlocal taken
            for event in events:
                taken += 1
                if taken % 50_000 == 0:
                    tell(f"{taken} events, {taken / (time.monotonic() - started):.0f} a second")
                yield event

        report = intake.take(counted(), batch=BATCH)
        took = time.monotonic() - started
        return {
            "events": taken,
            "counted": report.counted,
            "rejected": dict(report.rejected),
            "pairs": report.pairs,
            "seconds": round(took, 1),
            "events_s": round(taken / took),
        }

    def embed_past_queries(self) -> None:
        """Give the past queries their vectors, as the workers would."""
        name = queries_index(self.index)
        body = {"size": 10_000, "_source": False}
        hits = self.client.search(index=name, body=body)["hits"]["hits"]
        embed_all(self.client, self.encoder, name, [hit["_id"] for hit in hits])

    def rebuilt_equals(self) -> dict[str, Any]:
        """Rebuild, and compare: the largest difference of a sum of clicks or of expected clicks."""
        now = time.time()
        before = self.state(now)
        started = time.monotonic()
        rebuild(self.client, self.redis, self.index)
        took = time.monotonic() - started
        after = self.state(now)
        differences = [
            abs(one - other)
            for key in before.keys() & after.keys()
            for one, other in zip(before[key], after[key], strict=True)
        ]
        return {
            "same_pairs": before.keys() == after.keys(),
            "largest_difference": max(differences, default=0.0),
            "seconds": round(took, 1),
        }

    def learn_curve(self) -> list[float]:
        """Take the expected click-through by rank from the log itself, and count everything again by it."""
        curve = estimate(self.client, self.index).curve
        save_curve(self.client, self.index, curve)
        rebuild(self.client, self.redis, self.index)
        return curve

    def state(self, now: float) -> dict[tuple[str, str], tuple[float, float]]:
        """What is counted: (past query, document's hash) to clicks and expected clicks; "" is the query."""
        prefix = clicks_key(self.index, HALF_LIFE_DAYS, "")
        keys = sorted(self.redis.scan_iter(match=f"{prefix}*", count=10_000))
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for start in range(0, len(keys), BATCH):
            part = keys[start : start + BATCH]
            sums = merged(
                self.redis.execute_command("MGET", *part, **{NEVER_DECODE: []}), now, HALF_LIFE_DAYS
            )
            for doc, query, clicks, expected in zip(
                sums.doc.tolist(),
                sums.query.tolist(),
                sums.clicks.tolist(),
                sums.expected.tolist(),
                strict=True,
            ):
                name = part[query].removeprefix(prefix)
                found[name, f"{int(sums.docs[doc]):016x}"] = (clicks, expected)
        key = queries_key(self.index, HALF_LIFE_DAYS)
        for query, count in self.redis.hscan_iter(key, count=10_000):
            found[query, ""] = (clicks_counted(count) or 0.0, 0.0)
        return found
