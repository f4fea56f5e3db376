"""Past queries that are made up around real ones."""

from __future__ import annotations

import numpy as np
from past_clicks import PastClicks, clicked_ids, past_clicks

from trifuse.ranker.clicks.past_queries import query_id


def unit(rng: np.random.Generator, rows: int) -> np.ndarray:
    made = rng.standard_normal((rows, 24), dtype=np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_vectors_stand_near_their_real_query_and_documents_near_it_are_clicked() -> None:
    rng = np.random.default_rng(0)
    queries, documents = unit(rng, 4), unit(rng, 200)
    past = past_clicks(queries, documents, 101, 7)
    assert past.vectors.shape == (101, 24)
    assert np.allclose(np.linalg.norm(past.vectors, axis=1), 1, atol=1e-5)
    cosine = np.array([past.vectors[n] @ queries[n % 4] for n in range(101)])
    assert (cosine > 0.6 - 1e-5).all()
    assert (cosine < 0.98 + 1e-5).all()
    assert cosine.max() - cosine.min() > 0.3
    nearest = np.argsort(-(queries @ documents.T), axis=1)[:, :50]
    for number, clicked in enumerate(past.documents.tolist()):
        assert len(set(clicked)) == 7
        assert set(clicked) <= set(nearest[number % 4].tolist())


def test_every_pair_once_by_its_ids() -> None:
    past = PastClicks(np.zeros((3, 2), np.float32), np.array([[0, 1], [1, 2], [2, 0]]))
    pairs = list(clicked_ids(["a", "b", "c"], past))
    ids = [query_id(f"past query {n}") for n in range(3)]
    expected = [(0, "a"), (0, "b"), (1, "b"), (1, "c"), (2, "c"), (2, "a")]
    assert sorted(pairs) == sorted((ids[n], document) for n, document in expected)
