"""How much of what was clicked for a past query the other legs find."""

from __future__ import annotations

import numpy as np

from trifuse.ranker.clicks.support import query_support


def test_documents_found_by_the_other_legs_support_their_past_query() -> None:
    """(1² + 0.5²) / (2 + 3), and 0.5² / (1 + 3); nothing found is no support."""
    found = np.array([1.0, 0.5, 0.0])
    doc, query = np.array([0, 1, 1, 2]), np.array([0, 0, 1, 2])
    assert query_support(found, doc, query, 3).tolist() == [0.25, 0.0625, 0.0]


def test_a_past_query_without_documents_has_none() -> None:
    found = np.array([1.0])
    assert query_support(found, np.array([0]), np.array([1]), 3).tolist() == [0.0, 0.25, 0.0]
    nothing = np.array([], dtype=np.int64)
    assert query_support(np.array([]), nothing, nothing, 0).tolist() == []


def test_more_documents_that_are_found_are_more_support() -> None:
    """All of one found: 1/4. All of seven found: 7/10."""
    one = query_support(np.ones(1), np.zeros(1, np.int64), np.zeros(1, np.int64), 1)
    seven = query_support(np.ones(7), np.arange(7), np.zeros(7, np.int64), 1)
    assert (one.tolist(), seven.tolist()) == ([0.25], [0.7])
