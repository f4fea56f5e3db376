"""Tune fusion on NFCorpus by nDCG@10 of its dev queries, without the pseudo log and with it.

    python benchmarks/nfcorpus_fusion.py --data DIR [--depth 100] [--folds 5] [--json]

What `trifuse tune` does, from what one has on the first day: half lexical and half dense; with the log also
from the default. OPENSEARCH_URL and REDIS_URL, both set, name services to
use; else it starts its own.
"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from pathlib import Path

from kept_encoder import kept_encoder
from nfcorpus_data import QRELS, QUERIES, Corpus, read_corpus
from nfcorpus_index import fresh_index, load_documents, load_log, services

from trifuse.encoder import DEFAULT_ENCODER
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.tuning import Tuning, collect, tune

HYBRID = Profile(name="hybrid", weights={"lexical": 0.5, "dense": 0.5})
WITHOUT, WITH, FROM_DEFAULT = "without the log", "with the log", "with the log, from the default"


def tunings(corpus: Corpus, encoder_name: str, depth: int, folds: int) -> dict[str, Tuning]:
    """What tuning makes of `hybrid` without the log's leg and with it, and of the default."""
    asked = {query: corpus.queries[query] for query in evaluated_queries(corpus.qrels, corpus.queries)}
    with (
        services() as (client, redis),
        fresh_index(client, redis) as index,
        kept_encoder(encoder_name) as encoder,
        closing(HybridRanker(client, encoder)) as plain,
        closing(HybridRanker(client, encoder, ClickStore(redis, client))) as clicking,
    ):
        load_documents(client, encoder, index, corpus.documents)
        load_log(client, redis, encoder, index, corpus)
        without = collect(plain, index, asked, profile=HYBRID, depth=depth)
        with_log = collect(clicking, index, asked, profile=HYBRID, depth=depth)
    cases = {WITHOUT: (without, HYBRID), WITH: (with_log, HYBRID), FROM_DEFAULT: (with_log, Profile())}
    return {
        name: tune(collected, corpus.qrels, baseline=baseline, folds=folds)
        for name, (collected, baseline) in cases.items()
    }


def main() -> None:
    """Tune, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of NFCorpus")
    parser.add_argument("--queries", default=QUERIES, help="of the evaluation")
    parser.add_argument("--qrels", default=QRELS, help="their judgements")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--depth", type=int, default=100, help="hits of each leg")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    corpus = read_corpus(options.data, options.queries, options.qrels)
    found = tunings(corpus, options.encoder, options.depth, options.folds)
    if options.json:
        print(json.dumps({name: each.as_dict() for name, each in found.items()}, indent=2))
        return
    for name, each in found.items():
        print(f"{name}\n{each}\n")


if __name__ == "__main__":
    main()
