"""The paper's own labels: 1,610 pairs of trials that four people judged (Wang and Sun 2022, table 3).

    python benchmarks/trial2vec_pairs.py --data DIR --fetch trials.ndjson.gz [--model FOLDER] [--json]

The labels come as ids (`trial2vec/trialsim_pairs.csv`). --fetch gets the 1,624 records from the registry into
a file, once: where it is there already, what it lacks is asked for. Texts are also taken from other files of
--data. Pairs whose text isn't at hand are left out and counted, and so are queries that have not both kinds
of candidate then: with less than all pairs no number can be set beside the paper's, and none is to be.
Candidates stand in the order that the people were shown (TF-IDF's over the whole registry).
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kept_encoder import FOLDER
from rich.console import Console
from trial2vec import models_of, pairs
from trial2vec_data import Told, told
from trial2vec_methods import OURS, Asked, dense, lexical, ours
from trial2vec_outcome import top_trials
from trial2vec_protocol import Judged
from trial2vec_table import as_json, evaluation, values
from trial2vec_vectors import Vectors

from trifuse.encoder.errors import EncoderError
from trifuse.indexer.errors import RegistryError
from trifuse.indexer.fetch import REGISTRY_API, StudyQuery, fetch_studies
from trifuse.ranker.evaluation.report_tables import evaluation_table

PAIRS = Path("trial2vec", "trialsim_pairs.csv")
TEXTS = (
    Path("ctgov_full", "trials.jsonl.gz"),
    Path("trial2vec", "clinical_trial_mini.csv"),
    Path("ctgov_csv", "trials.jsonl.gz"),
)
"""Where texts are looked for, behind what was fetched; the first that has a trial is taken."""

AT_ONCE = 100


@dataclass(frozen=True)
class Labels:
    """The judged queries of a file, and what is left of them.

    Args:
        queries: those with both kinds of candidate, of whose texts all are at hand.
        pairs, of_pairs: pairs of which both texts are at hand, and all.
        of_queries: all queries.
    """

    queries: Sequence[Judged]
    pairs: int
    of_pairs: int
    of_queries: int


def read_pairs(path: Path) -> list[Judged]:
    """The queries with their candidates, as they stand in the file.

    Ranks begin anew with each query; some ask the same trial among other candidates.
    """
    found: list[Judged] = []
    last = 0
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            trial, rank = row["target_trial"], int(row["rank"])
            if not found or found[-1].trial != trial or rank <= last:
                found.append(Judged(trial, (), ()))
            last, (_, names, labels) = rank, found[-1]
            found[-1] = Judged(trial, (*names, row["candidate_trial"]), (*labels, row["label"] == "1"))
    return found


def at_hand(queries: Sequence[Judged], known: Iterable[str]) -> Labels:
    """What is left where only some trials have a text; of a candidate that stands twice the first counts."""
    texts, kept, count = set(known), [], 0
    for query in queries:
        labels = dict(reversed(list(zip(query.candidates, query.relevant, strict=True))))
        here = [name for name in dict.fromkeys(query.candidates) if {name, query.trial} <= texts]
        relevant = tuple(labels[name] for name in here)
        count += len(here)
        if any(relevant) and not all(relevant):
            kept.append(Judged(query.trial, tuple(here), relevant))
    return Labels(kept, count, sum(len(query.candidates) for query in queries), len(queries))


def ids_of(queries: Iterable[Judged]) -> list[str]:
    """All trials of the pairs, each once."""
    return list(dict.fromkeys(each for query in queries for each in (query.trial, *query.candidates)))


def fetch(wanted: Sequence[str], path: Path, api: str = REGISTRY_API) -> int:
    """Add the trials to a gzip'd file of NDJSON that it lacks; how many came.

    Raises:
        RegistryError: the registry can't be reached, or refuses; what came before is in the file.
    """
    there = {trial.id for trial in told([path])} if path.exists() else set()
    lacking = [name for name in wanted if name not in there]
    came = 0
    with gzip.open(path, "ab") as file:
        for start in range(0, len(lacking), AT_ONCE):
            some = tuple(lacking[start : start + AT_ONCE])
            for study in fetch_studies(StudyQuery(ids=some), limit=len(some), page_size=AT_ONCE, api=api):
                file.write(study + b"\n")
                came += 1
            print(f"fetched {came} of {len(lacking)} trials", file=sys.stderr)
    return came


def corpus(folder: Path, fetched: Path | None, wanted: Iterable[str]) -> list[Told]:
    """The trials of the pairs that have a text, and those that words are learned from.

    Of a trial that several files have, the first one's: what was fetched, the registry's records, its export,
    the records of the outcome benchmark, which have no title.
    """
    full, *others = (folder / path for path in TEXTS)
    records = told([full] if full.exists() else [])
    found = {trial.id: trial for trial in top_trials(folder)}
    found |= {trial.id: trial for trial in told([path for path in others if path.exists()])}
    found |= {trial.id: trial for trial in records}
    found |= {trial.id: trial for trial in told([fetched] if fetched and fetched.exists() else [])}
    kept = {*wanted, *(trial.id for trial in records)}
    return [trial for trial in found.values() if trial.id in kept]


def main() -> None:
    """Fetch what is asked for, measure what is at hand, and say what isn't."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder with trial2vec")
    parser.add_argument("--fetch", type=Path, metavar="FILE.ndjson.gz", help="fetch the records into it")
    parser.add_argument("--api", default=REGISTRY_API, help="the registry's base URL")
    parser.add_argument("--model", action="append", help="an encoder of parts; repeatable")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of heads, without --model")
    parser.add_argument("--seed", type=int, default=0, help="of the baselines that are trained")
    parser.add_argument("--cache", type=Path, default=FOLDER, help="keeps vectors between runs")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    queries = read_pairs(options.data / PAIRS)
    wanted = ids_of(queries)
    try:
        if options.fetch is not None:
            fetch(wanted, options.fetch, options.api)
        measure(options, queries, wanted)
    except (EncoderError, RegistryError) as error:
        sys.exit(str(error))


def measure(options: argparse.Namespace, queries: Sequence[Judged], wanted: Sequence[str]) -> None:
    """Measure what is at hand, and print."""
    trials = corpus(options.data, options.fetch, wanted)
    labels = at_hand(queries, [trial.id for trial in trials])
    said = (
        f"{labels.pairs:,} of {labels.of_pairs:,} pairs, {len(labels.queries)} of {labels.of_queries} queries"
    )
    print(f"at hand: {said}", file=sys.stderr)
    if not labels.queries:
        sys.exit("no query has candidates of both kinds whose texts are at hand: --fetch gets them")
    asked = Asked(trials, labels.queries, labels.of_queries)
    with Vectors(options.cache) as vectors:
        scored = {OURS: ours(asked, models_of(options, vectors))} | lexical(asked)
        scored |= dense(asked, vectors, options.seed)
    by_run = {name: values(asked.queries, runs) for name, runs in scored.items()}
    found = evaluation(by_run, pairs(by_run))
    counts = {"pairs": labels.pairs, "of_pairs": labels.of_pairs, "of_queries": labels.of_queries}
    if options.json:
        print(json.dumps(counts | as_json(found, by_run), indent=2))
    else:
        Console(width=110).print(evaluation_table(found, title=f"{said}: no table of the paper's"))


if __name__ == "__main__":
    main()
