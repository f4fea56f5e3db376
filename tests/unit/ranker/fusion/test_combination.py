from __future__ import annotations

import numpy as np
import pytest

from trifuse.ranker.fusion import COMBINATIONS, Table
from trifuse.ranker.fusion.arithmetic_mean import ARITHMETIC_MEAN
from trifuse.ranker.fusion.rrf import RRF
from trifuse.ranker.fusion.weighted_sum import WEIGHTED_SUM

TABLE = Table(
    normalized=np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.25, 0.0, 1.0]]),
    ranks=np.array([[1, 2, 0], [3, 1, 0], [2, 0, 1]]),
)


def test_weighted_sum_by_hand() -> None:
    scores = WEIGHTED_SUM(TABLE, np.array([2.0, 1.0, 4.0]), 60)
    assert scores.tolist() == [2.5, 1.0, 4.5]


def test_arithmetic_mean_by_hand() -> None:
    scores = ARITHMETIC_MEAN(TABLE, np.array([2.0, 1.0, 1.0]), 60)
    assert scores.tolist() == [0.625, 0.25, 0.375]


def test_f5_rrf_of_a_document_first_in_two_legs() -> None:
    table = Table(normalized=np.ones((1, 3)), ranks=np.array([[1, 1, 0]]))
    assert RRF(table, np.ones(3), 20).tolist() == pytest.approx([2 / 21], abs=1e-15)


def test_f6_rrf_gives_absent_documents_no_rank() -> None:
    """Dense [X, a, Y], lexical [b, c, Y]: Y has 1/63 twice, X and b 1/61 once."""
    ranks = np.array([[0, 1, 0], [0, 2, 0], [3, 3, 0], [1, 0, 0], [2, 0, 0]])
    scores = RRF(Table(np.zeros((5, 3)), ranks), np.ones(3), 60)
    assert scores.tolist() == pytest.approx([1 / 61, 1 / 62, 2 / 63, 1 / 61, 1 / 62], abs=1e-15)
    assert scores.argmax() == 2


@pytest.mark.parametrize("name", COMBINATIONS)
def test_no_candidates(name: str) -> None:
    table = Table(normalized=np.zeros((0, 3)), ranks=np.zeros((0, 3), dtype=np.int64))
    assert COMBINATIONS[name](table, np.ones(3), 60).tolist() == []


@pytest.mark.parametrize("name", COMBINATIONS)
def test_f3_one_more_leg_never_lowers_a_score(name: str) -> None:
    weights = np.array([0.5, 0.3, 0.2])
    before = COMBINATIONS[name](TABLE, weights, 60)
    more = Table(normalized=TABLE.normalized.copy(), ranks=TABLE.ranks.copy())
    more.normalized[1, 2], more.ranks[1, 2] = 0.0, 9
    after = COMBINATIONS[name](more, weights, 60)
    assert (after >= before).all()
