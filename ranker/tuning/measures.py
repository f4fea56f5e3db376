"""Measures of many rankings at once, as ir-measures defines them (pytrec_eval, judged). Pure NumPy."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.errors import MeasureUnknown
from trifuse.ranker.types import Floats

Grades = NDArray[np.int32]
"""Grades of documents, `UNJUDGED` and `ABSENT` among them."""

UNJUDGED = -(2**30)
ABSENT = -(2**30) - 1
"""A rank that no document holds."""

_NAME = re.compile(r"(nDCG|NDCG|RR|MRR|P|R|AP|MAP|Judged)(?:\(rel=(\d+)\))?(?:@(\d+))?")
_ALIASES = {"NDCG": "nDCG", "MRR": "RR", "MAP": "AP"}


@dataclass(frozen=True)
class Measure:
    """A measure that settings are chosen by.

    Args:
        kind: `nDCG`, `RR`, `P`, `R`, `AP` or `Judged`.
        cutoff: the rank down to which it looks; None: all of the ranking.
        rel: the least grade that is relevant; of nDCG and Judged it is nothing.
    """

    kind: str
    cutoff: int | None = None
    rel: int = 1

    @classmethod
    def parse(cls, name: str) -> Measure:
        """A measure by its name.

        Raises:
            MeasureUnknown: it is none of those that many settings can be scored by at once.

        >>> Measure.parse("nDCG@10")
        Measure(kind='nDCG', cutoff=10, rel=1)
        """
        found = _NAME.fullmatch(name.strip())
        kind = _ALIASES.get(found[1], found[1]) if found else ""
        cutoff = int(found[3]) if found and found[3] else None
        rel = int(found[2]) if found and found[2] else 1
        graded = kind in ("nDCG", "Judged")
        if (
            not found
            or cutoff == 0
            or rel == 0
            or (graded and found[2])
            or (kind in ("P", "R") and not cutoff)
        ):
            raise MeasureUnknown(
                f"can't tune by {name!r}: give one of nDCG@10, nDCG, RR, RR@10, P@5, P(rel=2)@5, R@100, AP, "
                "Judged@10"
            )
        return cls(kind, cutoff, rel)

    def values(self, grades: Grades, judged: Mapping[str, int]) -> Floats:
        """The measure of each ranking of one query, (settings,).

        Args:
            grades: (settings, ranks) grades of the documents, best first, at least down to the cutoff or the
                end of the ranking.
            judged: the query's documents to grade, whether they were found or not.
        """
        grades = grades[:, : self.cutoff]
        if self.kind == "nDCG":
            return _ndcg(grades, judged, self.cutoff)
        if self.kind == "Judged":
            found = np.count_nonzero(grades != ABSENT, axis=1)
            known = np.count_nonzero(grades > UNJUDGED, axis=1)
            share: Floats = known / np.maximum(found, 1)
            return share
        relevant = grades >= self.rel
        total = max(sum(grade >= self.rel for grade in judged.values()), 1)
        if self.kind == "RR":
            first = relevant.argmax(axis=1) if relevant.shape[1] else np.zeros(len(relevant), np.int64)
            found_any = relevant.any(axis=1)
            return np.where(found_any, 1.0 / (first + 1), 0.0)
        if self.kind == "AP":
            places = np.arange(1, relevant.shape[1] + 1)
            precision: Floats = np.where(relevant, relevant.cumsum(axis=1) / places, 0.0).sum(axis=1)
            return precision / total
        hits: Floats = relevant.sum(axis=1).astype(np.float64)
        return hits / (self.cutoff or 1) if self.kind == "P" else hits / total


def _ndcg(grades: Grades, judged: Mapping[str, int], cutoff: int | None) -> Floats:
    """Järvelin and Kekäläinen 2002 with linear gains, as trec_eval has it; a grade below 0 gains nothing."""
    ideal = np.sort(np.array([grade for grade in judged.values() if grade > 0], np.float64))[::-1][:cutoff]
    best = float((ideal / _discounts(len(ideal))).sum())
    if best == 0:
        return np.zeros(len(grades))
    gained: Floats = (np.maximum(grades, 0) / _discounts(grades.shape[1])).sum(axis=1)
    return gained / best


def _discounts(ranks: int) -> Floats:
    discounts: Floats = np.log2(np.arange(2, ranks + 2))
    return discounts
