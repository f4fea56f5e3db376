"""Batches under a token budget."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trifuse.encoder.batching import token_batches


def test_lengths_are_sorted_and_batches_cut_by_padded_tokens() -> None:
    """Sorted 9, 8, 4, 3. Budget 18: 9 + 8 padded to 9 is 18; then 4 and 3."""
    assert [batch.tolist() for batch in token_batches([3, 9, 4, 8], budget=18)] == [[1, 3], [2, 0]]


def test_equal_lengths_keep_their_order() -> None:
    assert [batch.tolist() for batch in token_batches([5, 5, 5, 5], budget=10)] == [[0, 1], [2, 3]]


@given(st.lists(st.integers(1, 600), max_size=200), st.integers(1, 4096))
def test_each_text_once_and_no_batch_over_the_budget(lengths: list[int], budget: int) -> None:
    batches = list(token_batches(lengths, budget))
    assert sorted(np.concatenate([[], *batches]).astype(int).tolist()) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[position] for position in batch)
        assert len(batch) == 1 or len(batch) * longest <= budget
