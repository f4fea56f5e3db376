"""The loss, against the same in NumPy; and what a sentence weighs as an answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from trifuse.encoder.training.aspects.losses import answer_loss, answer_weights

pytestmark = pytest.mark.train


def _reference(
    scores: np.ndarray, weights: np.ndarray, present: np.ndarray, temperature: float, mixed_request: float
) -> float:
    """-log of the weighted share of a request's softmax, over its own sentences, one request at a time."""
    found, of_request = [], []
    for row, weight, there in zip(scores, weights, present, strict=True):
        if not weight.any():
            continue
        powers = np.exp((row[there] - row[there].max()) / temperature)
        found.append(-np.log((powers * weight[there]).sum() / powers.sum()))
        of_request.append(1 if weight.max() == 1 else mixed_request)
    return float(np.average(found, weights=of_request)) if found else 0.0


def _loss(
    scores: torch.Tensor, weights: torch.Tensor, present: torch.Tensor, **options: float
) -> torch.Tensor:
    return answer_loss(scores, weights, present, **({"temperature": 1.0, "mixed_request": 0.2} | options))


def test_the_loss_is_the_reference() -> None:
    draw = np.random.default_rng(4)
    scores = draw.uniform(-1, 1, (6, 5))
    weights = draw.choice([0.0, 0.1, 1.0], (6, 5))
    present = np.arange(5)[None] < np.array([5, 3, 4, 1, 5, 2])[:, None]
    weights[~present] = 0
    weights[4] = 0  # a request without an answer
    weights[0] = [0, 0.1, 0.1, 0, 0]  # one with mixed answers alone
    found = _loss(*map(torch.tensor, (scores, weights, present)), temperature=0.05)
    assert found.item() == pytest.approx(_reference(scores, weights, present, 0.05, 0.2), abs=1e-5)


def test_by_hand() -> None:
    """Two sentences, e^1 and e^0: the answer's share is e / (e + 1); of the mixed one 0.1 / (e + 1) too."""
    scores = torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    weights = torch.tensor([[1.0, 0.0], [1.0, 0.1]])
    present = torch.ones(2, 2, dtype=torch.bool)
    first, second = np.e / (np.e + 1), (np.e + 0.1) / (np.e + 1)
    expected = -(np.log(first) + np.log(second)) / 2
    assert _loss(scores, weights, present).item() == pytest.approx(expected, abs=1e-6)


def test_a_request_without_an_answer_of_its_aspect_alone_weighs_less() -> None:
    """Both softmaxes are a half: -log 0.5 with weight 1, -log (0.5 * 0.1) with weight 0.25, of 1.25."""
    weights = torch.tensor([[1.0, 0.0], [0.1, 0.0]])
    found = _loss(torch.zeros(2, 2), weights, torch.ones(2, 2, dtype=torch.bool), mixed_request=0.25)
    assert found.item() == pytest.approx((np.log(2) + 0.25 * np.log(20)) / 1.25, abs=1e-6)


def test_no_answer_no_loss_and_no_gradient() -> None:
    scores = torch.zeros(2, 3, requires_grad=True)
    present = torch.tensor([[True, True, False], [True, False, False]])
    loss = _loss(scores, torch.zeros(2, 3), present)
    loss.backward()
    assert loss.item() == 0
    assert scores.grad is not None
    assert scores.grad.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_the_gradient_is_finite_where_sentences_pad() -> None:
    scores = torch.zeros(1, 3, requires_grad=True)
    present = torch.tensor([[True, True, False]])
    _loss(scores, torch.tensor([[1.0, 0.0, 0.0]]), present).backward()
    assert scores.grad is not None
    assert scores.grad[0].tolist() == pytest.approx([-0.5, 0.5, 0])


def test_a_sentence_that_has_other_aspects_too_weighs_less() -> None:
    aspects = [frozenset({"outcome"}), frozenset({"outcome", "population"}), frozenset({"population"})]
    assert answer_weights(aspects, "outcome", 0.01) == [1.0, 0.01, 0.0]
    assert answer_weights(aspects, "intervention", 0.01) == [0.0, 0.0, 0.0]
    assert answer_weights([], "outcome", 0.01) == []
