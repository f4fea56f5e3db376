"""Pooling and norms, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.encoder.pooling import pool, unit_norm

TOKENS = np.array([[[1, 2], [3, 6], [99, 99]], [[5, 7], [99, 99], [99, 99]]], dtype=np.float32)
MASK = np.array([[1, 1, 0], [1, 0, 0]])


def test_the_mean_leaves_padding_out() -> None:
    assert pool(TOKENS, MASK, "mean").tolist() == [[2, 4], [5, 7]]


def test_cls_is_the_first_token() -> None:
    assert pool(TOKENS, MASK, "cls").tolist() == [[1, 2], [5, 7]]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_no_token_no_vector(pooling) -> None:
    assert pool(TOKENS, np.zeros((2, 3), dtype=np.int64), pooling).tolist() == [[0, 0], [0, 0]]


def test_unit_norm() -> None:
    vectors = np.array([[3, 4], [0, 0], [3e30, 4e30], [np.inf, 1]], dtype=np.float32)
    found = unit_norm(vectors)
    assert found.dtype == np.float32
    assert found[:3] == pytest.approx(np.array([[0.6, 0.8], [0, 0], [0.6, 0.8]]))
    assert np.isnan(found[3, 0])
