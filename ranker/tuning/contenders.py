"""Which documents can come out among the first at all, whatever the weights. Pure NumPy.

Every combination is monotone: a document that another equals or beats in every leg never scores higher, and
of equal scores the smaller key goes first. So a document that k others equal or beat in every leg isn't
among the first k, if they have smaller keys, or beat it by so much in a leg that no rounding makes the scores
equal. What is left is the k-skyband (Papadias, Tao, Fu, Seeger: Progressive Skyline Computation in Database
Systems, TODS 2005).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.types import Floats

Rows = NDArray[np.int64]
Places = NDArray[np.int16]
Counts = NDArray[np.int32]

_WITNESSES = 4
"""So many times k of each leg's best documents are looked at first: they rule out most of the others."""

_ROUNDING = 1e-12
"""Of the largest term: by more than this no rounding makes up."""

MISSING = np.iinfo(np.int16).min


def places(documents: int, legs: Sequence[tuple[Rows, Floats]]) -> Places:
    """How good each document is in each leg, (documents, legs): the best 0, `MISSING` where it isn't there.

    Args:
        legs: the rows of a leg's documents, best first, and their scores; equal scores have equal places.
    """
    found = np.full((documents, len(legs)), MISSING, np.int16)
    for column, (rows, scores) in enumerate(legs):
        if len(rows):
            found[rows, column] = -np.concatenate([[0], np.cumsum(scores[1:] != scores[:-1])])
    return found


def contenders(places: Places, k: int) -> Rows:
    """The rows that can be among the first k for any weights above 0 and any combination, ascending.

    Args:
        places: (documents, legs) of `places`; rows are in the order of their keys.

    >>> contenders(np.array([[1, 3], [1, 1], [2, 0]], np.int16), k=1).tolist()
    [0, 2]
    """
    documents = len(places)
    rows = np.arange(documents)
    if documents <= k:
        return rows
    most = min(_WITNESSES * k, documents)
    witnesses = np.unique(np.argpartition(-places.astype(np.int32), most - 1, axis=0)[:most])
    rows = rows[_beaten(places, witnesses, rows) < k]
    # Of those that beat a document some k are contenders, if there are k: the first in the order of beating.
    return rows[_beaten(places, rows, rows) < k]


def refined(rows: Rows, terms: Floats, weights: Floats, k: int) -> Rows:
    """Those of the contenders that can be among the first k for these weights, ascending.

    Args:
        rows: of `contenders`.
        terms: (documents, legs) what the weights are multiplied by.
        weights: (settings, legs).
    """
    shares = weights / weights.sum(axis=1, keepdims=True)
    kept = terms[rows]
    few = np.arange(len(rows))
    witnesses = np.sort(np.argsort(-(kept @ shares.mean(axis=0)))[: _WITNESSES * k])
    few = few[_surely_beaten(kept, shares.min(axis=0), witnesses, few) < k]
    return rows[few[_surely_beaten(kept, shares.min(axis=0), few, few) < k]]


def _surely_beaten(terms: Floats, shares: Floats, by: Rows, rows: Rows) -> Counts:
    """How many of some rows beat each of `rows` for any weights, of which a leg has at least its share."""
    least = _ROUNDING * np.abs(terms).max(initial=0.0)
    beats = by[:, None] < rows
    columns = [(terms[by, leg][:, None], terms[rows, leg]) for leg in range(terms.shape[1])]
    for (ours, theirs), share in zip(columns, shares.tolist(), strict=True):
        if share > 0:
            beats |= ours > theirs + least / share
    for ours, theirs in columns:
        beats &= ours >= theirs
    counts: Counts = beats.sum(axis=0, dtype=np.int32)
    return counts


def _beaten(places: Places, by: Rows, rows: Rows) -> Counts:
    """How many of some rows have smaller keys than each of `rows`, and equal or beat it in every leg."""
    beats = by[:, None] < rows
    for leg in range(places.shape[1]):
        beats &= places[by, leg][:, None] >= places[rows, leg]
    counts: Counts = beats.sum(axis=0, dtype=np.int32)
    return counts
