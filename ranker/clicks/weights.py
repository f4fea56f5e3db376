"""From what past queries were clicked for to a score for each document. Pure NumPy.

    Score(d) = Σ_i softmax(similarity / temperature)_i · weight(q_i, d)

over the past queries q_i that have clicks: the log augmentation of LADER (Jin, Shin, Lu 2023: "Log-Augmented
DEnse Retrieval for Biomedical Literature Search", section 2.2), whose weight is 1(d ∈ Rel(q_i)).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from trifuse.ranker.clicks.records import Sums

Floats = NDArray[np.float64]


def softmax(values: Floats, temperature: float, doubt: float = -math.inf) -> Floats:
    """exp(v / temperature), scaled to sum to 1 with exp(doubt / temperature), which is nobody's.

    >>> softmax(np.array([0.7, 0.7]), 0.05).tolist()
    [0.5, 0.5]
    >>> softmax(np.array([0.7, 0.7]), 0.05, doubt=0.7).round(3).tolist()
    [0.333, 0.333]
    """
    if not len(values):
        return values
    top = max(values.max(), doubt)
    with np.errstate(over="ignore", under="ignore"):  # far below the top is as good as infinitely far
        powers = np.exp((values - top) / temperature)
        shares: Floats = powers / (powers.sum() + np.exp((doubt - top) / temperature))
    return shares


def clicked(sums: Sums) -> Sums:
    """The rows of documents that were clicked, not merely shown."""
    return worth(sums, sums.clicks)[0]


def worth(sums: Sums, weights: Floats) -> tuple[Sums, Floats]:
    """The rows of weights above 0, and those weights."""
    rows = weights > 0
    if rows.all():
        return sums, weights
    kept = Sums(sums.docs, sums.doc[rows], sums.query[rows], sums.clicks[rows], sums.expected[rows])
    return kept, weights[rows]


def document_weights(sums: Sums, queries: int, weighting: str, smoothing: float) -> Floats:
    """What each row's document is worth to its query, in [0, 1].

    `expected` takes from a document's clicks those that its ranks explain, with one standard deviation of a
    Poisson count, and of those where the query's best has ten, one: no visitor moves a popular query alone.

    Args:
        sums: (n,) rows with clicks above 0.
        queries: how many strings the sums are of.
        weighting, smoothing: see `ClickSettings`.
    """
    if weighting == "relevant":
        return np.ones(len(sums.clicks))
    most = np.zeros(queries)
    np.maximum.at(most, sums.query, sums.clicks)
    best = most[sums.query]
    if weighting == "share":
        return sums.clicks / best
    explained = sums.expected + np.sqrt(sums.expected) + np.minimum(1.0, best / 10)
    return np.maximum(0.0, sums.clicks - explained) / (sums.clicks + smoothing * best)


def document_scores(sums: Sums, weights: Floats, shares: Floats) -> Floats:
    """Scores of `sums.docs`, (d,).

    Args:
        weights: (n,) of `document_weights`.
        shares: a query's share in the scores, by its position among the strings.
    """
    scores = np.zeros(len(sums.docs))
    np.add.at(scores, sums.doc, weights * shares[sums.query])
    return scores


def best_documents(scores: Floats, most: int) -> NDArray[np.int64]:
    """Positions of the documents that score above 0, the best first, at most so many; ties by position."""
    found = np.flatnonzero(scores > 0)
    if len(found) > most:
        found = found[scores[found] >= -np.partition(-scores[found], most - 1)[most - 1]]
    return found[np.argsort(-scores[found], kind="stable")][:most]
