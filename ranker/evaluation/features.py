"""What is known of a query that may say how much the click log helps it: the nine features of LADER. Pure.

Jin, Shin, Lu 2023: "LADER: Log-Augmented DEnse Retrieval for Biomedical Literature Search", section 3.3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from trifuse.ranker.clicks.evidence import SimilarQuery
from trifuse.ranker.clicks.settings import SEGMENTS

FEATURES: Mapping[str, str] = {
    "QL": "length of the query, in words",
    "HEAD": "1 where the log has the query more than 44 times, else 0",
    "TORSO": "1 where the log has it 6 to 44 times, else 0",
    "TAIL": "1 where the log has it less than 6 times, else 0",
    "ENT(Q)": "entropy of the similar past queries' weights, in nats",
    "ENT(D)": "entropy of the documents' scores without the log, in nats",
    "E(REL)": "clicked documents of a similar past query, on average by their weights",
    "REL1": "clicked documents of the most similar past query",
    "REL5": "clicked documents of the five most similar past queries, on average",
}


def query_features(
    text: str, segment: str, similar: Sequence[SimilarQuery], scores: Sequence[float]
) -> dict[str, float]:
    """The value of each of `FEATURES` for one query.

    The entropy of documents is that of the scores of the ranking without the log, as shares of their sum:
    LADER's softmax of similarities where the profile normalises by softmax, and something like it for any
    other backbone. Scores below 0, which `none` leaves as they are, are made shares by a softmax.

    Args:
        segment: one of `SEGMENTS`.
        similar: past queries with clicks, at least one, the most similar first. Their weights are taken as
            shares of their sum.
        scores: (documents,) of the ranking without the log.
    """
    weights = np.array([query.weight for query in similar])
    documents = np.array([query.documents for query in similar], dtype=np.float64)
    return {
        "QL": float(len(text.split())),
        **{each: float(each == segment) for each in SEGMENTS},
        "ENT(Q)": entropy(weights.tolist()),
        "ENT(D)": entropy(scores),
        "E(REL)": float(weights @ documents / (weights.sum() or 1.0)),
        "REL1": float(documents[0]),
        "REL5": float(documents[:5].mean()),
    }


def entropy(values: Sequence[float]) -> float:
    """-Σ p log p of values as shares of their sum, in nats; of their softmax where one is below 0.

    >>> round(entropy([3.0, 1.0]), 4)  # 0.75 log(4/3) + 0.25 log 4
    0.5623
    >>> entropy([])
    0.0
    """
    row = np.asarray(values, dtype=np.float64)
    if not len(row):
        return 0.0
    if row.min() < 0:
        row = np.exp(row - row.max())
    shares = row[row > 0] / (row.sum() or 1.0)
    return max(0.0, float(-(shares * np.log(shares)).sum()))
