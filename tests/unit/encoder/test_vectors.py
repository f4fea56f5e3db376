"""Vectors that no similarity is defined for."""

from __future__ import annotations

import numpy as np
import pytest

from trifuse.encoder import check_vectors
from trifuse.encoder.errors import InvalidVector
from trifuse.encoder.vectors import vector_faults


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (np.nan, "NaN"),
        (np.inf, "infinity"),
        (-np.inf, "infinity"),
        # Its square is 1e60, and float32 ends at 3.4e38.
        (1e30, "beyond float32"),
        (0.0, "all zeros"),
        # Its square is 1e-60, which float32 rounds to 0.
        (1e-30, "beyond float32"),
    ],
)
def test_b1_refused_naming_the_document(value: float, reason: str) -> None:
    vectors = np.array([[1, 0], [value, 0]], dtype=np.float32)
    with pytest.raises(InvalidVector, match=f"1 of 2 vectors.*NCT2: it.*{reason}"):
        check_vectors(vectors, 2, names=["NCT1", "NCT2"])
    assert list(vector_faults(vectors)) == [1]


def test_b2_another_dimension_than_the_fields() -> None:
    with pytest.raises(InvalidVector, match=r"shape \(3, 384\), expected \(n, 768\)"):
        check_vectors(np.ones((3, 384), dtype=np.float32), 768)


def test_ordinary_vectors_pass() -> None:
    check_vectors(np.array([[1e-5, 0], [1e5, -1e5]], dtype=np.float32), 2)
    check_vectors(np.empty((0, 2), dtype=np.float32), 2)


def test_many_faults_are_counted_and_five_are_named() -> None:
    with pytest.raises(InvalidVector, match=r"7 of 7 .*\(0: .*; 4: it is all zeros and 2 more\)"):
        check_vectors(np.zeros((7, 2), dtype=np.float32), 2)
