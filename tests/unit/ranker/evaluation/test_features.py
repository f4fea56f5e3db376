"""The nine features of a query, worked out by hand."""

from __future__ import annotations

from math import log

import pytest

from trifuse.ranker.clicks.evidence import SimilarQuery
from trifuse.ranker.evaluation.features import FEATURES, entropy, query_features


def similar(similarity: float, weight: float, documents: int) -> SimilarQuery:
    return SimilarQuery("past", similarity, weight, documents)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], log(4)),
        ([5.0], 0.0),
        ([1.0, 0.0], 0.0),
        ([0.0, 0.0], 0.0),
        ([0.5, 0.25, 0.25], 1.5 * log(2)),
        ([2.0, 1.0, 1.0], 1.5 * log(2)),  # the same shares
        ([-log(2), -log(4), -log(4)], 1.5 * log(2)),  # a softmax of them is 1/2, 1/4, 1/4
        ([-1e9, 0.0], 0.0),
    ],
)
def test_entropy_of_known_distributions(values: list[float], expected: float) -> None:
    assert entropy(values) == pytest.approx(expected)


def test_the_features_of_a_query() -> None:
    """Six past queries; the nearest has 2 documents, the five nearest 2 + 4 + 6 + 1 + 1 = 14."""
    weights = [0.5, 0.25, 0.125, 0.0625, 0.03125, 0.03125]
    documents = [2, 4, 6, 1, 1, 100]
    past = [similar(1 - number / 10, weights[number], documents[number]) for number in range(6)]
    found = query_features("stroke in  adults", "TORSO", past, [0.5, 0.25, 0.25])
    assert tuple(found) == tuple(FEATURES)
    assert found == {
        "QL": 3,
        "HEAD": 0,
        "TORSO": 1,
        "TAIL": 0,
        "ENT(Q)": pytest.approx(log(2) * (0.5 + 0.5 + 0.375 + 0.25 + 5 * 0.0625)),
        "ENT(D)": pytest.approx(1.5 * log(2)),
        "E(REL)": pytest.approx(1 + 1 + 0.75 + 0.0625 + 0.03125 + 3.125),
        "REL1": 2,
        "REL5": pytest.approx(14 / 5),
    }


def test_fewer_than_five_similar_queries_and_no_documents() -> None:
    found = query_features("x", "TAIL", [similar(0.9, 0.8, 1), similar(0.7, 0.2, 9)], [])
    assert (found["REL1"], found["REL5"], found["E(REL)"]) == (1, 5, pytest.approx(0.8 + 1.8))
    assert found["ENT(D)"] == 0
