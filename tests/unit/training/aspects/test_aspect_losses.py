"""The loss, against the same in NumPy; and what a sentence weighs as an answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trifuse.encoder.training.aspects.losses import answer_loss, answer_weights

pytestmark = pytest.mark.train


def _reference(scores: np.ndarray, weights: np.ndarray, present: np.ndarray, temperature: float) -> float:
    """-log of the weighted share of a request's softmax, over its own sentences, one request at a time."""
    found = []
    for row, weight, there in zip(scores, weights, present, strict=True):
        if not weight.any():
            continue
        powers = np.exp((row[there] - row[there].max()) / temperature)
        found.append(-np.log((powers * weight[there]).sum() / powers.sum()))
    return float(np.mean(found)) if found else 0.0


def test_the_loss_is_the_reference() -> None:
    draw = np.random.default_rng(4)
    scores = draw.uniform(-1, 1, (6, 5))
    weights = draw.choice([0.0, 0.1, 1.0], (6, 5))
    present = np.arange(5)[None] < np.array([5, 3, 4, 1, 5, 2])[:, None]
    weights[~present] = 0
    weights[4] = 0  # a request without an answer
    found = answer_loss(*map(torch.tensor, (scores, weights, present)), 0.05)
    assert found.item() == pytest.approx(_reference(scores, weights, present, 0.05), abs=1e-5)


def test_by_hand() -> None:
    """Two sentences, e^1 and e^0: the answer's share is e / (e + 1); of the mixed one 0.1 / (e + 1) too."""
    scores = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    weights = torch.tensor([[1.0, 0.0], [1.0, 0.1]])
    present = torch.ones(2, 2, dtype=torch.bool)
    first, second = np.e / (np.e + 1), (np.e + 0.1) / (np.e + 1)
    expected = -(np.log(first) + np.log(second)) / 2
    assert answer_loss(scores, weights, present, 1.0).item() == pytest.approx(expected, abs=1e-6)


def test_no_answer_no_loss_and_no_gradient() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    present = torch.tensor([[True, True, False], [True, False, False]])
    loss = answer_loss(scores, torch.zeros(2, 3), present, 0.1)
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_the_gradient_is_finite_where_sentences_pad() -> None:
    scores = torch.zeros(1, 3, requires_grad=True)
    present = torch.tensor([[True, True, False]])
    answer_loss(scores, torch.tensor([[1.0, 0.0, 0.0]]), present, 1.0).backward()
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([-0.5, 0.5, 0])


def test_a_sentence_that_has_other_aspects_too_weighs_less() -> None:
    aspects = [frozenset({"outcome"}), frozenset({"outcome", "population"}), frozenset({"population"})]
    assert answer_weights(aspects, "outcome", 0.01) == [1.0, 0.01, 0.0]
    assert answer_weights(aspects, "intervention", 0.01) == [0.0, 0.0, 0.0]
    assert answer_weights([], "outcome", 0.01) == []
