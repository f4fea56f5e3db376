"""Sentences of all documents at once: which of them comes first, and where those are that answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from aspects_data import Asked, Questions
from aspects_search import Sentences, Way
from numpy.typing import NDArray

from trifuse.ranker.evaluation.aspects import AskedDocument, Share
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
    way: Way, documents: Sequence[Asked], sentences: Sentences, aspects: Sequence[str]
) -> tuple[list[AskedDocument], list[int]]:
    """Ask for each document's aspects among the sentences of all; for how many its own was found, of each.

    A sentence of another document that comes first counts as one that has no aspect.

    Args:
        documents: those that are asked.
        sentences: theirs, and behind them other documents'.
    """
    first: list[dict[str, int]] = [{} for _ in documents]
    at_home = [0] * len(documents)
    for aspect in aspects:
        for number, scores in enumerate(way(sentences, [each.topic for each in documents], aspect)):
            best = int(np.argmax(scores))
            home = bool(sentences.owner[best] == number)
            at_home[number] += home
            here = best - int(sentences.starts[number])
            first[number][aspect] = here if home else len(documents[number].labels)
    elsewhere = frozenset[str]()
    found = [
        AskedDocument([*document.labels, elsewhere], its)
        for document, its in zip(documents, first, strict=True)
    ]
    return found, at_home


def share_of(hits: Sequence[Sequence[int]], of: int) -> Share:
    """In percent, of `of` requests for each document: (seeds, documents) of hits."""
    means = np.mean(hits, axis=0)
    low, high = bootstrap_ratio_ci(means, np.full(len(means), of, dtype=np.float64))
    return Share(100 * float(means.mean()) / of, (100 * low, 100 * high), of * len(means))


def answered(way: Way, data: Questions, sentences: Sentences, aspect: str) -> Answered | None:
    """The questions for an aspect; None where there are none."""
    asked = [question for question in data.asked if question.aspect == aspect]
    if not asked:
        return None
    places = {document.id: number for number, document in enumerate(data.documents)}
    rows = []
    for question, scores in zip(asked, way(sentences, [each.text for each in asked], aspect), strict=True):
        home = places[question.document]
        start, end = sentences.starts[home : home + 2].tolist()
        answers = {start + at for at in question.answers}
        best = np.argsort(-scores, kind="stable")[:DEPTH].tolist()
        own = start + int(np.argmax(scores[start:end]))
        rank = next((rank for rank, at in enumerate(best, start=1) if at in answers), 0)
        rows.append((own in answers, rank == 1, 1 / rank if rank else 0.0, sentences.owner[best[0]] == home))
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
