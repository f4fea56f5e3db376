"""What past queries add to BM25, dense and hybrid retrieval, on NFCorpus: a pseudo log, not a click log.

    python benchmarks/nfcorpus.py --data DIR [--queries dev.titles.queries.tsv] [--qrels dev.2-1-0.qrel.gz]

NFCorpus has no clicks: its training queries with their judged documents stand for a log (nfcorpus_data.py),
taken in by the same code as clicks. A training query whose normal form is that of an evaluated query is left
out. Beside each backbone with and without the log stands LADER's score as published. `--towers` adds the same
profiles with the encoder of that folder. A measure is taken at the depth that the profile serves; one that
looks further down (R@1000) at that depth. A name without a folder is looked for in --data. OPENSEARCH_URL and
REDIS_URL, both set, name services to use; else it starts its own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kept_encoder import kept_encoder
from nfcorpus_data import QRELS, QUERIES, Corpus, parted, read_corpus
from nfcorpus_index import embed_all, fresh_index, load_documents, load_log, services, tell
from nfcorpus_profiles import AGAINST, compared_profiles, deeper
from rich.console import Console

from trifuse.deploy.cli.ranking import read_profile
from trifuse.encoder import DEFAULT_ENCODER
from trifuse.ranker import ClickStore, HybridRanker, Profile
from trifuse.ranker.evaluation import Evaluation, Ranked, evaluate, rank_all
from trifuse.ranker.evaluation.measures import largest_cutoff, split_names
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.report_tables import evaluation_table, notes

__all__ = [
    "Corpus",
    "embed_all",
    "fresh_index",
    "load_documents",
    "load_log",
    "read_corpus",
    "services",
    "tell",
]

MEASURES = "nDCG@10,RR,R@10,R@1000"
TOWERS = " (towers)"


@dataclass(frozen=True)
class Rankings:
    """What one encoder gave.

    Args:
        served: profile to its rankings, as deep as it serves.
        deep: the same, as deep as the measures look.
        log: what became of the pseudo log.
    """

    served: Mapping[str, Ranked]
    deep: Mapping[str, Ranked]
    log: Mapping[str, Any]


def rank(corpus: Corpus, encoder_name: str, profiles: Mapping[str, Profile], cutoff: int) -> Rankings:
    """Build the index and the log, and rank the evaluated queries by every profile."""
    wanted = {query: corpus.queries[query] for query in evaluated_queries(corpus.qrels, corpus.queries)}
    served, deep = {}, {}
    with (
        services() as (client, redis),
        fresh_index(client, redis) as index,
        kept_encoder(encoder_name) as encoder,
    ):
        load_documents(client, encoder, index, corpus.documents)
        log = load_log(client, redis, encoder, index, corpus)
        ranker = HybridRanker(client, encoder, ClickStore(redis, client))
        for name, profile in profiles.items():
            started = time.monotonic()
            served[name] = rank_all(ranker, index, wanted, profile=profile, depth=profile.depth)
            deep[name] = served[name]
            if cutoff > profile.depth:
                deep[name] = rank_all(ranker, index, wanted, profile=deeper(profile, cutoff), depth=cutoff)
            tell(f"{name}: {len(wanted)} queries in {time.monotonic() - started:.0f} s")
        ranker.close()
    return Rankings(served, deep, log)


def evaluated(corpus: Corpus, rankings: Rankings, measures: Sequence[str]) -> Evaluation:
    """Each measure of the rankings that are deep enough for it, in the order of the measures."""
    shallow = min(ranked.depth for ranked in rankings.served.values())
    against = {**AGAINST, **{f"{name}{TOWERS}": f"{other}{TOWERS}" for name, other in AGAINST.items()}}
    against |= {f"{name}{TOWERS}": name for name in ("dense", "hybrid+log")}
    parts = []
    for names, runs in (
        ([name for name in measures if largest_cutoff([name]) <= shallow], rankings.served),
        ([name for name in measures if largest_cutoff([name]) > shallow], rankings.deep),
    ):
        if names:
            pairs = {name: other for name, other in against.items() if name in runs}
            documents = {name: ranked.documents for name, ranked in runs.items()}
            parts.append(evaluate(documents, corpus.qrels, corpus.queries, names, against=pairs))
    first, *rest = parts
    for part in rest:
        first = replace(
            first,
            values={name: {**row, **part.values[name]} for name, row in first.values.items()},
            ci95={name: {**row, **part.ci95[name]} for name, row in first.ci95.items()},
            tests={name: {**row, **part.tests[name]} for name, row in first.tests.items()},
        )
    return first


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="the folder of NFCorpus")
    parser.add_argument("--queries", default=QUERIES, help="lines of id, tab, text")
    parser.add_argument("--qrels", default=QRELS, help="their judgements")
    parser.add_argument("--measures", default=MEASURES, help="names of ir-measures")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--profile", default="default", help="a profile's name, JSON or file: ours")
    parser.add_argument("--no-lader", action="store_true", help="leave out LADER's profiles")
    parser.add_argument("--towers", help="a model's folder: the same profiles with its vectors, beside")
    parser.add_argument("--towers-profile", help="ours with the towers, where they need other settings")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    corpus = read_corpus(options.data, options.queries, options.qrels)
    measures = split_names([options.measures])
    cutoff = largest_cutoff(measures)
    profiles = compared_profiles(read_profile(options.profile), lader=not options.no_lader)
    rankings = rank(corpus, options.encoder, profiles, cutoff)
    if options.towers:
        base = read_profile(options.towers_profile or options.profile)
        titled = replace(corpus, documents=parted(corpus.documents))
        trained = compared_profiles(base, lader=not options.no_lader)
        rankings = beside(rankings, rank(titled, options.towers, trained, cutoff))
    evaluation = evaluated(corpus, rankings, measures)
    if options.json:
        legs = {name: each.legs for name, each in rankings.served.items()}
        print(json.dumps(evaluation.as_dict() | {"log": rankings.log, "legs": legs}, indent=2))
        return
    console = Console()
    console.print(evaluation_table(evaluation))
    for line in notes(evaluation, rankings.served):
        print(line)
    print(f"pseudo log (judged training queries, no clicks): {rankings.log}")


def beside(zero_shot: Rankings, trained: Rankings) -> Rankings:
    """Both, the trained ones' names marked; BM25 is the same in both."""
    served = {f"{name}{TOWERS}": each for name, each in trained.served.items() if name != "bm25"}
    deep = {f"{name}{TOWERS}": each for name, each in trained.deep.items() if name != "bm25"}
    return Rankings({**zero_shot.served, **served}, {**zero_shot.deep, **deep}, zero_shot.log)


if __name__ == "__main__":
    main()
