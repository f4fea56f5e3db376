"""The first k of each row, as a stable sort has them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trifuse.ranker.tuning.tops import first


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 35), st.booleans())
@settings(max_examples=200, deadline=None)
def test_it_is_the_start_of_a_stable_sort(seed: int, documents: int, k: int, coarse: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 4, (7, documents)) / 3 if coarse else rng.random((7, documents))
    whole = np.argsort(-scores, axis=1, kind="stable")
    assert first(scores, k).tolist() == whole[:, :k].tolist()
    assert first(scores, None).tolist() == whole.tolist()
