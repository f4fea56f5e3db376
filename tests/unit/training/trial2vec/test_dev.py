"""The score that ends the training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.train


def test_mean_reciprocal_rank() -> None:
    from trifuse.encoder.training.trial2vec.dev import mean_reciprocal_rank

    scores = np.array([[0.5, 0.9, 0.7], [0.1, 0.8, 0.2], [0.6, 0.6, 0.6]], dtype=np.float32)
    nobody = np.eye(3, dtype=bool)
    assert mean_reciprocal_rank(scores, nobody) == pytest.approx((1 / 3 + 1 + 1 / 3) / 3)  # ties lose
    spared = nobody.copy()
    spared[0, 1] = spared[2, 0] = True
    assert mean_reciprocal_rank(scores, spared) == pytest.approx((1 / 2 + 1 + 1 / 2) / 3)


def test_what_is_asked_and_what_is_found(trials: Any, bert: Callable[..., Any]) -> None:
    """Each trial is a direction of its own; the first two have each other's disease."""
    import torch

    from trifuse.encoder.training.trial2vec import Trial2Vec
    from trifuse.encoder.training.trial2vec.dev import DevScore

    model = Trial2Vec(bert(max_position_embeddings=256))
    names = [part.name for part in model.parts]
    disease = names.index("condition")
    directions = torch.eye(32)

    def as_tensors(asked: Any) -> Any:
        rows = [next(n for n, trial in enumerate(score.trials) if trial.parts is parts) for parts in asked]
        vectors = directions[rows][:, None].repeat(1, len(names), 1)
        vectors[:, disease] = directions[[{0: 1, 1: 0}.get(row, row) for row in rows]]
        return vectors, torch.tensor([[name in parts for name in names] for parts in asked])

    score = DevScore(model, trials, as_tensors)
    assert len(score) == 13  # three of the sixteen lack what is asked or what is looked for
    # All thirteen are as near to the first one as its own disease is. Of the second one's, a liver trial's,
    # the next trial is no rival: it is of the liver as well. The others find theirs at once.
    assert score() == pytest.approx((1 / 13 + 1 / 12 + 11) / 13)


def test_trials_without_a_disease_or_without_anything_else_arent_looked_for(trials: Any) -> None:
    from trifuse.encoder.training.trial2vec import PARTS
    from trifuse.encoder.training.trial2vec.dev import DevScore

    class Named:
        parts = PARTS

    class Nameless:
        parts = PARTS[:2]

    assert len(DevScore(Named(), trials[:3], lambda items: ())) == 0  # type: ignore[arg-type]
    assert len(DevScore(Named(), trials, lambda items: ())) == 13  # type: ignore[arg-type]
    assert len(DevScore(Nameless(), trials, lambda items: ())) == 0  # type: ignore[arg-type]
