"""How well a patient's note finds trials: BM25, vectors, both on the first day, and both tuned.

    python benchmarks/trials.py --data DIR [--queries trec_2021.queries.jsonl.gz]
                                [--qrels trec_2021.qrels.test.tsv.gz]

All trials of ctgov_full are loaded and embedded by the code that a team would use. `tuned` and `server` were
chosen on TREC 2021's topics (trials_tune.py, which also says what that is worth on topics that weren't
looked at); on other topics nothing is chosen. `server` is OpenSearch's own hybrid query, run by it, with the
best of the 66 settings of its Search Relevance Workbench. Judgements of trials that aren't here are left out.
A name without a folder is looked for in --data. OPENSEARCH_URL and REDIS_URL, both set, name services to use;
else it starts its own.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from kept_encoder import FOLDER, kept_encoder
from nfcorpus_index import fresh_index, services, tell
from rich.console import Console
from trials_data import QRELS, QUERIES, TRIALS, Topics, read_topics
from trials_index import load_trials
from trials_profiles import AGAINST, FILE, compared_profiles

from trifuse.encoder import DEFAULT_ENCODER
from trifuse.ranker import HybridRanker, Profile
from trifuse.ranker.evaluation import Ranked, evaluate, rank_all
from trifuse.ranker.evaluation.measures import largest_cutoff, split_names
from trifuse.ranker.evaluation.report import evaluated_queries
from trifuse.ranker.evaluation.report_tables import evaluation_table, notes
from trifuse.ranker.evaluation.runs import evaluation_depth

MEASURES = "nDCG@10,P@10,RR,R@100,Judged@10"


def rankings(
    ranker: HybridRanker, index: str, topics: Topics, profiles: Mapping[str, Profile], cutoff: int
) -> dict[str, Ranked]:
    """Each profile's rankings of the notes that have a relevant trial in the index.

    Args:
        topics: with judgements of the index's trials alone.
        cutoff: the rank down to which the measures look.
    """
    asked = {query: topics.queries[query] for query in evaluated_queries(topics.qrels, topics.queries)}
    ranked = {}
    for name, profile in profiles.items():
        started = time.monotonic()
        depth = evaluation_depth(profile, cutoff)
        ranked[name] = rank_all(ranker, index, asked, profile=profile, depth=depth)
        tell(f"{name}: {len(asked)} queries in {time.monotonic() - started:.0f} s")
    return ranked


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="holds ctgov_full")
    parser.add_argument("--queries", default=QUERIES, help="JSON lines of _id and text")
    parser.add_argument("--qrels", default=QRELS, help="their judgements")
    parser.add_argument("--profiles", type=Path, default=FILE, help="what trials_tune.py --save wrote")
    parser.add_argument("--measures", default=MEASURES, help="names of ir-measures")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--vectors", type=Path, default=FOLDER, help="keeps vectors of earlier runs")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    measures = split_names([options.measures])
    topics = read_topics(options.data, options.queries, options.qrels)
    profiles = compared_profiles(options.profiles)
    with (
        services() as (client, redis),
        fresh_index(client, redis, "trials") as index,
        kept_encoder(options.encoder, options.vectors) as encoder,
        closing(HybridRanker(client, encoder)) as ranker,
    ):
        topics = topics.over(load_trials(client, encoder, index, options.data / TRIALS))
        ranked = rankings(ranker, index, topics, profiles, largest_cutoff(measures))
    runs = {name: each.documents for name, each in ranked.items()}
    evaluation = evaluate(runs, topics.qrels, topics.queries, measures, against=AGAINST)
    if options.json:
        legs = {name: each.legs for name, each in ranked.items()}
        print(json.dumps(evaluation.as_dict() | {"legs": legs}, indent=2))
        return
    console = Console()
    console.print(evaluation_table(evaluation))
    for line in notes(evaluation, ranked):
        print(line)


if __name__ == "__main__":
    main()
