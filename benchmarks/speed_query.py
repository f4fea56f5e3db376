"""Milliseconds of a search on all trials of ctgov_full, against OpenSearch's own hybrid search by hand.

Three ways to the same page: `client` and `native` are the executions of a profile, the peer is a hybrid query
with its pipeline (`hybrid_by_hand.py`). All have the same two legs, 100 hits from each, min_max, weights of a
half, the same ten hits with the same `_source`. `notes` are TREC 2021's topics, `short` conditions of trials.
The encoder is counted in none of them: vectors come from a dictionary; in `..._encoded` it is counted in all.
Each query is searched by every way in turn, in all orders alike; a round is all queries, and gives a pair of
percentiles.

`quality` is nDCG@10 on TREC 2021, over the same index: of the three ways, of what was tuned on these topics
(`trials_tune.py`), and of the server's best of its 66 settings, chosen on the same.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from hybrid_by_hand import DEPTH, SIZE, SOURCE, HybridByHand, stored_pipeline
from kept_encoder import FOLDER, kept_encoder
from nfcorpus_index import fresh_index, services, tell
from opensearchpy import OpenSearch
from ratio import Ratio, Report, summarize
from trials import rankings
from trials_bodies import PLAIN
from trials_data import TRIALS, Topics, read_topics
from trials_index import load_trials
from trials_profiles import compared_profiles

from trifuse.encoder import load_encoder
from trifuse.encoder.types import Encoder
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.report import evaluated_queries

MEASURE = "nDCG@10"
PEER = "by hand"
CLIENT = Profile(
    name="client",
    weights={"lexical": 0.5, "dense": 0.5},
    normalization="min_max",
    combination="arithmetic_mean",
    depth=DEPTH,
    body={**PLAIN, "size": SIZE, "_source": list(SOURCE)},
)

Search = Callable[[str], Mapping[str, Any]]
"""A text to a response of OpenSearch's shape."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("query")
    group.add_argument("--notes", type=int, default=75, help="topics that a round searches")
    group.add_argument("--short", type=int, default=75, help="short queries that a round searches")
    group.add_argument("--vectors", type=Path, default=FOLDER, help="keeps vectors of earlier runs")


def measure(options: argparse.Namespace) -> Report:
    """The ratios of latency, and the quality of each way."""
    topics = read_topics(options.data)
    with ExitStack() as stack:
        client, redis = stack.enter_context(services())
        index = stack.enter_context(fresh_index(client, redis, "trials"))
        kept = stack.enter_context(kept_encoder(options.encoder, options.vectors))
        topics = topics.over(load_trials(client, kept, index, options.data / TRIALS))
        pipeline = stack.enter_context(stored_pipeline(client))
        queries = {
            "notes": list(topics.queries.values())[: options.notes],
            "short": conditions(client, index, options.short),
        }
        ratios: dict[str, Ratio] = {}
        for suffix, encoder in (("", kept), ("_encoded", load_encoder(options.encoder))):
            searches = ways(client, encoder, index, pipeline)
            for kind, texts in queries.items():
                found = latency(searches, texts, options.runs)
                ratios |= {f"{name}_{kind}{suffix}": ratio for name, ratio in found.items()}
        searches = ways(client, kept, index, pipeline)
        return Report(ratios, quality=quality(client, kept, index, topics, searches))


def ways(client: OpenSearch, encoder: Encoder, index: str, pipeline: str) -> dict[str, Search]:
    """Name to search."""
    ranker = HybridRanker(client, encoder)
    native = Profile.from_dict({**CLIENT.as_dict(), "name": "native", "execution": "native"})
    return {
        **{
            profile.name: lambda text, profile=profile: ranker.search(index, text=text, profile=profile)
            for profile in (CLIENT, native)
        },
        PEER: HybridByHand(client, encoder, index, pipeline).search,
    }


def conditions(client: OpenSearch, index: str, number: int) -> list[str]:
    """Different conditions of the first trials."""
    body = {"size": 10 * number, "_source": ["conditions"], "sort": ["nct_id"]}
    hits = client.search(index=index, body=body)["hits"]["hits"]
    found = dict.fromkeys(name for hit in hits for name in hit["_source"].get("conditions", []))
    return list(found)[:number]


def latency(searches: Mapping[str, Search], texts: Sequence[str], rounds: int) -> dict[str, Ratio]:
    """`query_WAY_p50` and `query_WAY_p95` of each way but the peer, in milliseconds."""
    names = list(searches)
    orders = list(permutations(names))
    rows: list[dict[str, tuple[float, float]]] = []
    for turn in range(rounds + 1):
        took: dict[str, list[float]] = {name: [] for name in names}
        for place, text in enumerate(texts):
            for name in orders[(turn + place) % len(orders)]:
                start = time.perf_counter()
                searches[name](text)
                took[name].append((time.perf_counter() - start) * 1000)
        rows.append({name: tuple(np.percentile(each, [50, 95]).tolist()) for name, each in took.items()})
        tell(", ".join(f"{name} p50 {p50:.1f} p95 {p95:.1f} ms" for name, (p50, p95) in rows[-1].items()))
    return {
        f"query_{name}_{percentile}": summarize([(row[name][at], row[PEER][at]) for row in rows[1:]], "ms")
        for name in names
        if name != PEER
        for at, percentile in enumerate(("p50", "p95"))
    }


def quality(
    client: OpenSearch, encoder: Encoder, index: str, topics: Topics, searches: Mapping[str, Search]
) -> dict[str, dict[str, float]]:
    """The measure of the ways, and of the profiles that `trials.py` compares."""
    ranked = rankings(HybridRanker(client, encoder), index, topics, compared_profiles(), SIZE)
    runs = {name: each.documents for name, each in ranked.items()}
    asked = evaluated_queries(topics.qrels, topics.queries)
    for name, search in searches.items():
        pages = {query: search(topics.queries[query])["hits"]["hits"] for query in asked}
        runs[name] = {query: [hit["_id"] for hit in hits] for query, hits in pages.items()}
    evaluation = evaluate(runs, topics.qrels, topics.queries, [MEASURE])
    return {name: {MEASURE: evaluation.mean(name, MEASURE)} for name in runs}
