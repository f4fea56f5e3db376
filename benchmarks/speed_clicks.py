"""What the click log costs: query latency, intake and memory, and how they grow with the pairs it holds.

- `clicks_latency_p50`, `clicks_latency_p95`: milliseconds of a search with the lexical, dense and click legs
  over the same search without the click leg, encoder included. Each query is searched both ways in turn; a
  round is all queries, and gives one pair of percentiles. Documents, queries and their vectors are real
  (NFCorpus), past queries and clicks are synthetic (`past_clicks.py`), and all that were found count: the
  click leg's time budget is lifted.
- `clicks_intake`: events a second of `Counter.count` over ZINCRBY for the same queries and documents in a
  redis-py pipeline of the same batch size, both on stores that hold as many pairs. Queries are as popular as
  the simulator has them, every event has a visitor.
- `clicks_memory`: bytes of Redis for the pairs over those of sorted sets with the same pairs, in megabytes a
  million pairs; without the marks that keep an event from counting twice, which last for 8 days and are in
  the table as `marks_mb`: megabytes a million events.

The numbers are those of the largest size; `growth` has all of them. OpenSearch is that of OPENSEARCH_URL
(with REDIS_URL), or started for this; Redis is always a process of its own.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack

import numpy as np
from click_stores import TwoStores, own_redis
from kept_encoder import kept_encoder
from nfcorpus import fresh_index, load_documents, read_corpus, services, tell
from past_clicks import past_clicks, write_past_queries
from ratio import Ratio, Report, paired_ratio, summarize

from trifuse.encoder import load_encoder
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.clicks.past_queries import queries_index
from trifuse.worker.clicks.intake import BATCH

CORPUS = ("dev.titles.queries.tsv", "dev.2-1-0.qrel.gz")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("clicks")
    group.add_argument(
        "--pairs",
        type=int,
        nargs="+",
        default=[10_000, 100_000, 1_000_000],
        help="sizes of the log, in pairs of a query and a document",
    )
    group.add_argument("--clicked", type=int, default=10, help="documents that were clicked for a past query")
    group.add_argument("--searched", type=int, default=100, help="queries that a round searches both ways")
    group.add_argument("--events", type=int, default=20_000, help="that a round counts")
    group.add_argument("--count-batch", type=int, default=BATCH, help="events that are counted together")


def measure(options: argparse.Namespace) -> Report:
    """The ratios at the largest size, and the table of sizes."""
    corpus = read_corpus(options.data, *CORPUS)
    texts = [*corpus.log_queries.values(), *corpus.queries.values()]
    with ExitStack() as stack:
        client, shared = stack.enter_context(services())
        index = stack.enter_context(fresh_index(client, shared))
        with kept_encoder(options.encoder) as kept:
            load_documents(client, kept, index, corpus.documents)
            queries = kept.encode_queries(texts)
            documents = kept.encode_documents(list(corpus.documents.values()))
        redis = stack.enter_context(own_redis())
        encoder = load_encoder(options.encoder)
        searched = list(corpus.queries.values())[: options.searched]
        table: list[dict[str, float]] = []
        ratios: dict[str, Ratio] = {}
        for pairs in sorted(options.pairs):
            past = past_clicks(queries, documents, pairs // options.clicked, options.clicked)
            name = f"{index}-{pairs}"
            client.indices.put_alias(index=index, name=name)
            stack.callback(
                client.indices.delete, index=queries_index(name), params={"ignore_unavailable": "true"}
            )
            start = time.monotonic()
            write_past_queries(client, name, kept.space, past)
            tell(f"{pairs} pairs: {len(past.vectors)} past queries in {time.monotonic() - start:.0f} s")
            store = TwoStores(
                redis, name, past, list(corpus.documents), events=options.events, batch=options.count_batch
            )
            memory = store.fill()
            ranker = HybridRanker(client, encoder, ClickStore(redis, client))
            ratios, answered = latency(ranker, name, searched, options.runs)
            ratios["clicks_intake"] = paired_ratio(store.count, store.increment, options.runs)
            ratios["clicks_memory"] = memory.pairs
            table.append(_row(pairs, len(past.vectors), ratios, answered, memory.marks))
            tell(f"{pairs} pairs: {table[-1]}")
        return Report(ratios, table)


def latency(
    ranker: HybridRanker, index: str, texts: Sequence[str], rounds: int
) -> tuple[dict[str, Ratio], float]:
    """Milliseconds with and without the click leg, as ratios of percentiles, and the share with evidence."""
    weights = Profile().weights
    ways = {
        "with": Profile(name="with", weights=weights, click_budget_s=10.0),
        "without": Profile(name="without", weights={**weights, "clicks": 0.0}),
    }
    medians, tails, answered = [], [], 0
    for turn in range(rounds + 1):
        took: dict[str, list[float]] = {way: [] for way in ways}
        for place, text in enumerate(texts):
            for way in sorted(ways, reverse=bool((turn + place) % 2)):
                start = time.perf_counter()
                response = ranker.search(index, text=text, profile=ways[way])
                took[way].append((time.perf_counter() - start) * 1000)
                if way == "with" and turn:
                    answered += response["trifuse"]["legs"]["clicks"]["state"] == "ok"
        if turn:  # the first warms up
            at50, at95 = ([float(np.percentile(took[way], at)) for way in ways] for at in (50, 95))
            medians.append((at50[0], at50[1]))
            tails.append((at95[0], at95[1]))
            tell(f"{index}: p50 {at50[0]:.1f} ms over {at50[1]:.1f}, p95 {at95[0]:.1f} over {at95[1]:.1f}")
    found = {"clicks_latency_p50": summarize(medians, "ms"), "clicks_latency_p95": summarize(tails, "ms")}
    return found, answered / (rounds * len(texts))


def _row(
    pairs: int, past_queries: int, ratios: Mapping[str, Ratio], answered: float, marks: float
) -> dict[str, float]:
    p50, p95 = ratios["clicks_latency_p50"], ratios["clicks_latency_p95"]
    intake, memory = ratios["clicks_intake"], ratios["clicks_memory"]
    return {
        "pairs": pairs,
        "past_queries": past_queries,
        "p50_ms": p50.ours,
        "p50_ratio": p50.ratio,
        "p95_ms": p95.ours,
        "p95_ratio": p95.ratio,
        "with_evidence": answered,
        "events_s": intake.ours,
        "intake_ratio": intake.ratio,
        "memory_mb": memory.ours,
        "memory_ratio": memory.ratio,
        "marks_mb": marks,
    }
