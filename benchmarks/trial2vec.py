"""How well trials find trials of their disease: Trial2Vec beside its baselines, its ablations, its parts.

    python benchmarks/trial2vec.py --data DIR --table similarity --seed 0 [--model FOLDER] [--json]

A proxy of the paper's protocol (Wang and Sun 2022): query trials of the test pool, each with the ten trials
that TF-IDF finds nearest; relevant are those that share a rare MeSH term of their conditions
(trial2vec_protocol.py). No method sees MeSH terms. Tables:

    similarity  TF-IDF, BM25, word vectors, a flat encoder, means of chunks, whitening, SimCSE, ours
    ablation    heads trained without the local loss, without exchanged titles, without the context
    dimension   heads of 384, 256 and 128 dimensions
    partial     ours, asked by single parts; and where no text names the disease
    outcome     how trials ended, from their vectors (trial2vec_outcome.py)

Ours are heads that are trained here, by the recipe of `trifuse train trial2vec --small` and each of --seeds
(trial2vec_heads.py; it needs the extra `train`), or the models of --model; in each query their values are
averaged. `ablation` and `dimension` always train theirs. --cache keeps vectors: a first run on two cores may
take an hour.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from kept_encoder import FOLDER
from rich.console import Console
from trial2vec_data import corpus_file, told
from trial2vec_lexical import Scores
from trial2vec_methods import HIDDEN, OURS, Asked, Embed, ask, by_parts, dense, lexical, ours
from trial2vec_protocol import POOLS
from trial2vec_table import as_json, evaluation, values
from trial2vec_vectors import Vectors

from trifuse.encoder.errors import TrifuseError
from trifuse.ranker.evaluation.report_tables import evaluation_table
from trifuse.ranker.evaluation.significance import RESAMPLES

QUERIES = 500
SLOW = ("mean of chunks", "simcse")


def models_of(options: argparse.Namespace, vectors: Vectors) -> list[Embed]:
    """Ours: those of --model, or else heads that are trained here."""
    if options.model:
        return [partial(vectors.of_parts, model) for model in options.model]
    from trial2vec_heads import Heads

    return list(Heads(corpus_file(options.data), options.cache).models(options.seeds))


def scored(options: argparse.Namespace, asked: Asked) -> Mapping[str, Sequence[Scores]]:
    """Method to its scores, ours first."""
    if options.table in ("ablation", "dimension"):
        from trial2vec_heads import ABLATIONS, DIMENSIONS, Heads

        variants = ABLATIONS if options.table == "ablation" else DIMENSIONS
        return Heads(corpus_file(options.data), options.cache).scores(asked, variants, options.seeds)
    with Vectors(options.cache) as vectors:
        models = models_of(options, vectors)
        if options.table == "partial":
            return by_parts(asked, models)
        return (
            {OURS: ours(asked, models)}
            | lexical(asked)
            | dense(asked, vectors, options.seed, options.without)
        )


def pairs(methods: Iterable[str]) -> dict[str, str]:
    """Each method with the one that it is compared with: ours, that sees as much."""
    found = {name: f"{OURS}{HIDDEN}" if name.endswith(HIDDEN) else OURS for name in methods}
    return {name: other for name, other in found.items() if name != other}


def table(options: argparse.Namespace) -> None:
    """Measure, and print."""
    trials = told([corpus_file(options.data)])
    if not trials:
        sys.exit(
            f"{options.data} has no trial that can be read: give a folder with ctgov_full/trials.jsonl.gz"
        )
    asked = ask(trials, options.pool, options.queries, options.seed)
    if not asked.queries:
        sys.exit(
            f"{options.data} has no query trial in the pool {options.pool!r} with relevant and other "
            "candidates: are MeSH terms in its records?"
        )
    print(f"{len(asked.queries)} queries of {asked.eligible}", file=sys.stderr)
    by_run = {name: values(asked.queries, runs) for name, runs in scored(options, asked).items()}
    found = evaluation(by_run, pairs(by_run), options.resamples)
    if options.json:
        about: dict[str, Any] = {
            "table": options.table,
            "pool": options.pool,
            "seed": options.seed,
            "eligible": asked.eligible,
        }
        print(json.dumps(about | as_json(found, by_run), indent=2))
        return
    Console(width=110).print(evaluation_table(found))


def main() -> None:
    """Read the options, and make the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="a folder with ctgov_full")
    parser.add_argument(
        "--table",
        choices=("similarity", "outcome", "ablation", "dimension", "partial"),
        default="similarity",
    )
    parser.add_argument("--seed", type=int, default=0, help="draws the query trials")
    parser.add_argument("--queries", type=int, default=QUERIES, help="query trials, at most")
    parser.add_argument("--pool", choices=tuple(POOLS), default="test", help="to choose by: dev")
    parser.add_argument("--model", action="append", help="an encoder of parts; repeatable")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help="of heads that are trained")
    parser.add_argument(
        "--without",
        nargs="*",
        default=[],
        choices=SLOW,
        help="methods to leave out of the table similarity: a first run of them is slow",
    )
    parser.add_argument("--resamples", type=int, default=RESAMPLES, help="of intervals and tests")
    parser.add_argument("--labels", choices=("status", "top"), default="top", help="of the table outcome")
    parser.add_argument("--trials", type=int, help="so many of the labels status, by a hash; else all")
    parser.add_argument("--cache", type=Path, default=FOLDER, help="keeps vectors between runs")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    try:
        if options.table == "outcome":
            from trial2vec_outcome import outcome_table

            with Vectors(options.cache) as vectors:
                outcome_table(options, vectors, models_of(options, vectors)[0])
        else:
            table(options)
    except TrifuseError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
