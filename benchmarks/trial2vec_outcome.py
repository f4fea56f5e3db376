"""How trials ended, predicted by one linear layer from several kinds of vectors: the table `outcome`.

status  the trials of `ctgov_csv` that were completed, or else terminated, withdrawn or suspended, or --trials
        of them; 70, 10 and 20 % by the hash of the id
top     phase I of the trial outcome prediction benchmark (Fu et al. 2022, HINT), by its own parts; its
        records have diseases, drugs and criteria, and no title
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from ended_trials import drawn
from rich.console import Console
from rich.table import Table
from top_trials import rows
from trial2vec_data import FULL, Told, texts_of, told
from trial2vec_methods import FLAT_MODEL, OURS, Embed, parts_of
from trial2vec_vectors import Vectors

from trifuse.deploy.outcome import Comparison, Outcomes, compare, split_of, tfidf, word_vectors
from trifuse.deploy.outcome.compare import differences
from trifuse.deploy.outcome.split import SPLITS, Split

STATUS_FILE = Path("ctgov_csv", "trials.jsonl.gz")
TOP_FOLDER = "top_benchmark"
TELLING = ("status", "why_stopped")


class Labelled(NamedTuple):
    """A trial, whether it ended well, and the part that it belongs to."""

    trial: Told
    positive: bool
    split: Split


def by_status(folder: Path, count: int | None = None) -> list[Labelled]:
    """The trials of the registry's export whose status is an end; what tells it is taken from them.

    Args:
        count: how many of them, the same ones that ended_trials.py writes; None: all.
    """
    path = folder / STATUS_FILE
    found = []
    for trial in told([path if path.exists() else folder / STATUS_FILE.name]):
        positive = Outcomes().of(trial.source["status"])
        if positive is not None:
            source = {name: value for name, value in trial.source.items() if name not in TELLING}
            found.append(Labelled(trial._replace(source=source), positive, split_of(trial.id)))
    kept = drawn([each.trial.id for each in found], len(found) if count is None else count)
    return [each for each in found if each.trial.id in kept]


def by_top(folder: Path, phase: str = "phase_I") -> list[Labelled]:
    """The benchmark's trials of a phase, in its own parts."""
    inner = folder / TOP_FOLDER
    return [
        Labelled(_told(row), row["label"] == "1", split)
        for split in SPLITS
        for row in rows((inner if inner.is_dir() else folder) / f"{phase}_{split}.csv.gz")
    ]


def top_trials(folder: Path) -> list[Told]:
    """All trials of the benchmark's files, as far as they are there."""
    return [_told(row) for path in sorted((folder / TOP_FOLDER).glob("*.csv.gz")) for row in rows(path)]


def _told(row: Mapping[str, str]) -> Told:
    return Told(row["nctid"], _source(row), frozenset())


def _source(row: Mapping[str, str]) -> dict[str, Any]:
    return {
        "conditions": ast.literal_eval(row["diseases"]),
        "interventions": [{"name": name} for name in ast.literal_eval(row["drugs"])],
        "eligibility": row["criteria"],
    }


def features(labelled: list[Labelled], vectors: Vectors, model: Embed, seed: int) -> dict[str, Any]:
    """Method to (n, dimension); words are learned from the training part alone, the flat encoder cuts."""
    trials = [each.trial for each in labelled]
    texts = texts_of(trials, FULL)
    train = np.array([each.split == "train" for each in labelled])
    return {
        OURS: model(parts_of(trials)),
        "tfidf": tfidf(texts, train),
        "word vectors": word_vectors(texts, train, seed=seed),
        "flat": vectors.of(FLAT_MODEL, texts),
    }


def outcome_table(options: argparse.Namespace, vectors: Vectors, model: Embed) -> None:
    """Measure, and print."""
    of_status = options.labels == "status"
    labelled = by_status(options.data, options.trials) if of_status else by_top(options.data)
    positive = np.array([each.positive for each in labelled])
    splits = [each.split for each in labelled]
    print(f"{len(labelled)} trials, {positive.mean():.1%} of them ended well", file=sys.stderr)
    found = compare(features(labelled, vectors, model, options.seed), positive, splits, seed=options.seed)
    truth = positive[[split == "test" for split in splits]]
    tests = {
        other: {name: {"difference": each.mean, "ci95": list(each.ci95)} for name, each in row.items()}
        for other, row in differences(found, truth, OURS, seed=options.seed).items()
    }
    if options.json:
        about = {"table": "outcome", "labels": options.labels, "seed": options.seed}
        print(json.dumps({**about, **found.as_dict(), "differences": tests}, indent=2))
    else:
        Console(width=110).print(_table(found))


def _table(found: Comparison) -> Table:
    names = list(next(iter(found.methods.values())).measures)
    table = Table("method", *names, title=f"test: {sum(found.trials['test'])} trials")
    for method, judged in found.methods.items():
        cells = (judged.measures[name] for name in names)
        table.add_row(method, *(f"{c.mean:.3f}\n{c.ci95[0]:.3f}-{c.ci95[1]:.3f}" for c in cells))
    return table


if __name__ == "__main__":
    sys.exit("this is a table of trial2vec.py: --table outcome")
