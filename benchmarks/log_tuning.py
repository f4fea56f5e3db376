"""Rankings by documents and a log under many settings at once, from what was retrieved once. Pure NumPy.

A query's documents are scored h(d) + weight · evidence(d): h is the mean of the other legs' normalised
scores, the evidence what the ranker's click leg computes (`trifuse.ranker.clicks.evidence`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.records import Sums
from trifuse.ranker.clicks.settings import ClickSettings
from trifuse.ranker.clicks.support import query_support
from trifuse.ranker.clicks.weights import best_documents, document_weights, softmax, worth

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

TOP = 10
DISCOUNTS: Floats = 1.0 / np.log2(np.arange(2, TOP + 2))


class Setting(NamedTuple):
    """What is tuned: see `ClickSettings`, and the weight of the click leg, the other legs' weights being 1
    in sum."""

    m: int
    temperature: float
    support: float
    doubt: float
    weight: float


@dataclass(frozen=True)
class Log:
    """Past queries and their documents.

    Args:
        start: (p + 1,) past query i has the pairs start[i] to start[i + 1].
        doc: (n,) positions of documents.
        worth: (n,) what each is worth to its query: `document_weights`.
    """

    start: Positions
    doc: Positions
    worth: Floats

    @classmethod
    def of(cls, clicked: Sequence[Sequence[tuple[int, float, float]]]) -> Log:
        """From the documents, clicks and expected clicks of each past query, weighed as by default."""
        settings = ClickSettings()
        start = np.concatenate([[0], np.cumsum([len(pairs) for pairs in clicked])]).astype(np.int64)
        rows = np.array([row for pairs in clicked for row in pairs], dtype=np.float64).reshape(-1, 3)
        query = np.repeat(np.arange(len(clicked)), np.diff(start))
        sums = Sums(np.array([], np.uint64), rows[:, 0].astype(np.int64), query, rows[:, 1], rows[:, 2])
        weights = document_weights(sums, len(clicked), settings.weighting, settings.smoothing)
        kept, weights = worth(sums, weights)
        start = np.concatenate([[0], np.cumsum(np.bincount(kept.query, minlength=len(clicked)))])
        return cls(start.astype(np.int64), kept.doc, weights)


class Case(NamedTuple):
    """One query, with all that no setting changes.

    Args:
        found: (docs,) h in [0, 1].
        similarity: (k,) of the k nearest past queries, falling.
        support: (k,) of `query_support`.
        doc, query, worth: (n,) the pairs of those past queries, in their order.
        gains: (docs,) grades.
    """

    found: Floats
    similarity: Floats
    support: Floats
    doc: Positions
    query: Positions
    worth: Floats
    gains: Floats


def case(
    found: Floats, similarity: Floats, usable: NDArray[np.bool_], log: Log, gains: Floats, k: int
) -> Case:
    """The nearest k of the past queries that are usable and have documents.

    Args:
        similarity, usable: (p,) of all past queries.
    """
    allowed = np.flatnonzero(usable & (np.diff(log.start) > 0))
    near = allowed[np.argsort(-similarity[allowed], kind="stable")[:k]]
    sizes = log.start[near + 1] - log.start[near]
    pairs = np.concatenate([np.arange(log.start[i], log.start[i + 1]) for i in near] or [np.arange(0)])
    doc, query = log.doc[pairs], np.repeat(np.arange(len(near)), sizes)
    support = query_support(found, doc, query, len(near))
    return Case(found, similarity[near], support, doc, query, log.worth[pairs], gains)


def evidence(case: Case, m: int, temperature: float, support: float) -> tuple[Floats, Floats]:
    """The click leg without doubt: each document's score, (docs,), and what doubt stands against, (past,)."""
    plain = case.similarity[:m] / temperature
    logits = plain + support * case.support[:m] / temperature
    pairs = np.searchsorted(case.query, len(logits))
    weights = case.worth[:pairs] * softmax(logits, 1.0)[case.query[:pairs]]
    return np.bincount(case.doc[:pairs], weights=weights, minlength=len(case.found)), plain


def believed(logits: Floats, doubt: float) -> float:
    """The share of the softmax that doubt, one more past query without documents, leaves the others.

    Args:
        doubt: its similarity over the temperature.

    >>> believed(np.array([2.0]), 2.0), believed(np.array([]), 2.0)
    (0.5, 0.0)
    """
    return float(softmax(np.append(logits, doubt), 1.0)[:-1].sum())


def ndcg(scores: Floats, gains: Floats, ideal: float) -> float:
    """nDCG of the documents that score above 0, with linear gains as trec_eval has them; ties by position.

    Args:
        scores, gains: of some documents: those left out score 0.
        ideal: `ideal_dcg` of all of them.
    """
    best = best_documents(scores, TOP)
    return float((gains[best] * DISCOUNTS[: len(best)]).sum()) / ideal


def ideal_dcg(gains: Floats) -> float:
    """The DCG of the best ranking."""
    best = -np.sort(-gains)[:TOP]
    return float((best * DISCOUNTS[: len(best)]).sum())


def grid(**choices: Iterable[float]) -> list[Setting]:
    """All combinations."""
    return [Setting(**dict(zip(choices, row, strict=True))) for row in itertools.product(*choices.values())]


def values_of(case: Case, settings: Sequence[Setting]) -> Iterator[float]:
    """nDCG by each setting; neighbours that differ in doubt and weight alone share the evidence."""
    ideal = ideal_dcg(case.gains)
    for choices, same in itertools.groupby(settings, key=lambda setting: setting[:3]):
        leg, logits = evidence(case, *choices)
        some = np.flatnonzero(case.found + leg)
        found, leg, gains = case.found[some], leg[some], case.gains[some]
        for setting in same:
            weight = setting.weight * believed(logits, setting.doubt / setting.temperature)
            yield ndcg(found + weight * leg, gains, ideal)


class Held(NamedTuple):
    """What cross-validation says.

    Args:
        best: position of the setting that is best over all queries.
        chosen: position of the setting that is best over the queries outside of each fold.
        held_out: (queries,) each query's value by the setting chosen without its fold.
    """

    best: int
    chosen: list[int]
    held_out: Floats


def cross_validated(objective: Floats, values: Floats, folds: Positions) -> Held:
    """Choose by the queries of the other folds, and look at the fold's own.

    Args:
        objective: (settings, queries) what is chosen by.
        values: (settings, queries) what is reported.
        folds: (queries,) fold of each query.
    """
    held = np.empty(values.shape[1])
    chosen = []
    for fold in range(int(folds.max()) + 1):
        inside = folds == fold
        choice = int(objective[:, ~inside].mean(axis=1).argmax())
        chosen.append(choice)
        held[inside] = values[choice, inside]
    return Held(int(objective.mean(axis=1).argmax()), chosen, held)
