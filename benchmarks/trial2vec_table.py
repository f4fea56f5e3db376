"""Scores of candidates as a table: measures with intervals, and paired tests. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from trial2vec_lexical import Numbers, Scores
from trial2vec_protocol import Judged

from trifuse.ranker.evaluation import Evaluation
from trifuse.ranker.evaluation.comparison import compare, mean
from trifuse.ranker.evaluation.measures import measure_run
from trifuse.ranker.evaluation.significance import RESAMPLES, bootstrap_ci

MEASURES = ("nDCG@5", "P@1", "P@2", "P@5", "R@1", "R@2", "R@5")
"""The paper's, by their names in ir-measures."""

Methods = Mapping[str, Sequence[Scores]]
"""Name to its scores: one set for each model that was trained by another seed."""

Values = dict[str, dict[str, float]]
"""Measure to query to value."""


def ranked(candidates: Sequence[str], scores: Numbers) -> list[str]:
    """The candidates, best first; of equals the one that stands earlier."""
    return [candidates[place] for place in np.argsort(-scores, kind="stable").tolist()]


def values(queries: Sequence[Judged], runs: Sequence[Scores]) -> list[Values]:
    """The measures of each run."""
    named = {f"{place} {query.trial}": query for place, query in enumerate(queries)}  # one may be asked twice
    qrels = {
        name: dict(zip(query.candidates, map(int, query.relevant), strict=True))
        for name, query in named.items()
    }
    return [
        measure_run(
            MEASURES,
            qrels,
            {
                name: ranked(query.candidates, found)
                for (name, query), found in zip(named.items(), run, strict=True)
            },
        )
        for run in runs
    ]


def evaluation(
    by_run: Mapping[str, Sequence[Values]], pairs: Mapping[str, str], resamples: int = RESAMPLES
) -> Evaluation:
    """Means over queries; a method of several runs has in each query the mean of their values.

    Args:
        by_run: method to the values of its runs.
        pairs: method to the one that it is compared with.
    """
    table = {
        name: {
            measure: {query: mean(run[measure][query] for run in runs) for query in runs[0][measure]}
            for measure in MEASURES
        }
        for name, runs in by_run.items()
    }
    tests: dict[str, dict[str, Any]] = {name: {} for name in pairs}
    for measure in MEASURES:
        compared = compare({name: row[measure] for name, row in table.items()}, pairs, resamples)
        for name, found in compared.items():
            tests[name][measure] = found
    intervals = {
        name: {
            measure: bootstrap_ci(list(row.values()), resamples=resamples) for measure, row in rows.items()
        }
        for name, rows in table.items()
    }
    queries = len(next(iter(next(iter(table.values())).values())))
    return Evaluation(table, intervals, tests, queries, excluded=0)


def as_json(found: Evaluation, by_run: Mapping[str, Sequence[Values]]) -> dict[str, Any]:
    """`methods`, `tests` against ours, and the means of each run of those that have several."""
    whole = found.as_dict(per_query=False)
    tests = {
        name: {
            measure: {key: value for key, value in each.items() if key not in ("gained", "lost")}
            for measure, each in compared.items()
        }
        for name, compared in whole["tests"].items()
    }
    runs = {
        name: [{measure: mean(run[measure].values()) for measure in MEASURES} for run in each]
        for name, each in by_run.items()
        if len(each) > 1
    }
    return {"methods": whole["profiles"], "tests": tests, "runs": runs, "queries": found.queries}
