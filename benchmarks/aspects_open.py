"""Sentences of all documents at once: which of them comes first, and where those are that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from aspects_data import Asked, Questions
from numpy.typing import NDArray

from trifuse.encoder.types import Vectors
from trifuse.ranker.evaluation.asking import Ask
from trifuse.ranker.evaluation.aspects import AskedDocument
from trifuse.ranker.evaluation.significance import bootstrap_ratio_ci

MEASURES = ("within", "first", "RR@10", "document")
DEPTH = 10


class Answered(NamedTuple):
    """How well a way of asking answers questions, in percent: measure to mean and interval.

    `within`: an answer comes first among the sentences of its own document; `first`, `RR@10`: among those of
    all documents, an answer comes first, or the mean of 1 / the rank of the first of them; `document`: a
    sentence of its document comes first. Intervals are over documents.
    """

    questions: int
    measures: Mapping[str, tuple[float, tuple[float, float]]]


def asked_everywhere(
    ask: Ask, documents: Sequence[Asked], vectors: Sequence[Vectors], aspects: Sequence[str]
) -> tuple[list[AskedDocument], float]:
    """Ask for each document's aspects among the sentences of all, and in how many % its document was found.

    A sentence of another document that comes first counts as one that has no aspect.

    Args:
        documents: those that are asked.
        vectors: of their sentences, and behind them of other documents'.
    """
    every, owner = _joined(vectors)
    starts = np.cumsum([0, *(len(each) for each in vectors)])
    first: list[dict[str, int]] = [{} for _ in documents]
    at_home = 0
    for aspect in aspects:
        for number, query in enumerate(ask([document.topic for document in documents], aspect)):
            best = int(np.argmax(every @ query))
            home = bool(owner[best] == number)
            at_home += home
            first[number][aspect] = best - int(starts[number]) if home else len(documents[number].labels)
    elsewhere = frozenset[str]()
    found = [
        AskedDocument([*document.labels, elsewhere], its)
        for document, its in zip(documents, first, strict=True)
    ]
    return found, 100 * at_home / (len(documents) * len(aspects))


def answered(ask: Ask, data: Questions, vectors: Sequence[Vectors], aspect: str) -> Answered | None:
    """The questions for an aspect; None where there are none."""
    asked = [question for question in data.asked if question.aspect == aspect]
    if not asked:
        return None
    every, owner = _joined(vectors)
    places = {document.id: number for number, document in enumerate(data.documents)}
    starts = np.cumsum([0, *(len(each) for each in vectors)])
    rows = []
    for question, query in zip(asked, ask([each.text for each in asked], aspect), strict=True):
        home = places[question.document]
        answers = {int(starts[home]) + at for at in question.answers}
        scores = every @ query
        best = np.argsort(-scores, kind="stable")[:DEPTH].tolist()
        own = int(starts[home]) + int(np.argmax(scores[starts[home] : starts[home + 1]]))
        rank = next((rank for rank, at in enumerate(best, start=1) if at in answers), 0)
        rows.append((own in answers, rank == 1, 1 / rank if rank else 0.0, owner[best[0]] == home))
    return Answered(
        len(asked), _measured(np.array(rows, dtype=np.float64), [each.document for each in asked])
    )


def _measured(
    values: NDArray[np.float64], documents: Sequence[str]
) -> dict[str, tuple[float, tuple[float, float]]]:
    """(questions, measures) to means, with intervals over documents."""
    unit = {document: number for number, document in enumerate(dict.fromkeys(documents))}
    of = np.zeros(len(unit))
    sums = np.zeros((len(unit), values.shape[1]))
    for document, row in zip(documents, values, strict=True):
        of[unit[document]] += 1
        sums[unit[document]] += row
    found = {}
    for column, name in enumerate(MEASURES):
        low, high = bootstrap_ratio_ci(sums[:, column], of)
        found[name] = (100 * float(sums[:, column].sum() / of.sum()), (100 * low, 100 * high))
    return found


def _joined(vectors: Sequence[Vectors]) -> tuple[Vectors, NDArray[np.int64]]:
    """All sentences, and the number of each one's document; what can't be encoded is never found."""
    every = np.nan_to_num(np.concatenate(list(vectors)), nan=0.0)
    return every, np.repeat(np.arange(len(vectors)), [len(each) for each in vectors])
