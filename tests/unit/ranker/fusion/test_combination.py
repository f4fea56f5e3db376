from __future__ import annotations

import numpy as np
import pytest

from trifuse.ranker.fusion import COMBINATIONS, Table
from trifuse.ranker.fusion.arithmetic_mean import ARITHMETIC_MEAN
from trifuse.ranker.fusion.geometric_mean import GEOMETRIC_MEAN
from trifuse.ranker.fusion.harmonic_mean import HARMONIC_MEAN
from trifuse.ranker.fusion.registry import OF_THEIR_OWN
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


def test_geometric_mean_by_hand() -> None:
    """A score of 0 counts as 0.001: (1² · 0.5)^(1/4) · 0.001^(1/4) for the first."""
    scores = GEOMETRIC_MEAN(TABLE, np.array([2.0, 1.0, 1.0]), 60)
    first = (1.0**2 * 0.5 * 0.001) ** 0.25
    assert scores.tolist() == pytest.approx([first, (1e-6 * 1.0 * 1e-3) ** 0.25, (0.25**2 * 1e-3) ** 0.25])


def test_harmonic_mean_by_hand() -> None:
    scores = HARMONIC_MEAN(TABLE, np.array([2.0, 1.0, 1.0]), 60)
    expected = [4 / (2 + 2 + 1000), 4 / (2000 + 1 + 1000), 4 / (8 + 1000 + 1)]
    assert scores.tolist() == pytest.approx(expected)


def test_weighted_rrf_by_hand() -> None:
    scores = RRF(TABLE, np.array([2.0, 1.0, 4.0]), 20)
    assert scores.tolist() == pytest.approx([2 / 21 + 1 / 22, 2 / 23 + 1 / 21, 2 / 22 + 4 / 21])


@pytest.mark.parametrize("name", COMBINATIONS)
def test_no_candidates(name: str) -> None:
    table = Table(normalized=np.zeros((0, 3)), ranks=np.zeros((0, 3), dtype=np.int64))
    assert COMBINATIONS[name](table, np.ones(3), 60).tolist() == []


@pytest.mark.parametrize("name", COMBINATIONS)
def test_weights_of_zero(name: str) -> None:
    """A leg of weight 0 has no say; where none has any, all documents are equal."""
    two = Table(TABLE.normalized[:, :2], TABLE.ranks[:, :2])
    without = COMBINATIONS[name](two, np.array([2.0, 1.0]), 60)
    assert COMBINATIONS[name](TABLE, np.array([2.0, 1.0, 0.0]), 60).tolist() == without.tolist()
    assert len(set(COMBINATIONS[name](TABLE, np.zeros(3), 60).tolist())) == 1


@pytest.mark.parametrize("name", COMBINATIONS)
def test_many_weights_at_once_are_as_one_by_one(name: str) -> None:
    rng = np.random.default_rng(5)
    weights = rng.random((50, 3))
    normalized = rng.random((200, 3))
    table = Table(normalized, np.argsort(np.argsort(-normalized, axis=0), axis=0) + 1)
    together = COMBINATIONS[name](table, weights, 60)
    assert together.shape == (50, 200)
    for row, one in zip(together, weights, strict=True):
        assert row.tolist() == COMBINATIONS[name](table, one, 60).tolist()


@pytest.mark.parametrize("name", COMBINATIONS)
def test_many_tables_at_once_are_as_one_by_one(name: str) -> None:
    tables = Table(np.stack([TABLE.normalized, TABLE.normalized[::-1]]), np.stack([TABLE.ranks] * 2))
    weights = np.array([0.5, 0.3, 0.2])
    together = COMBINATIONS[name](tables, weights, 60)
    for number, row in enumerate(together):
        one = Table(tables.normalized[number], tables.ranks[number])
        assert row.tolist() == COMBINATIONS[name](one, weights, 60).tolist()


def test_the_combinations_of_their_own_normalization_are_named() -> None:
    """Those that have one, and `rrf`, which sees ranks alone."""
    own = {name for name, each in COMBINATIONS.items() if each.normalization is not None}
    assert own | {"rrf"} == set(OF_THEIR_OWN)
