"""The loss: of all sentences of its document, one that answers the request should be first."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from trifuse.encoder.training.aspects.labelled import Aspects


def answer_weights(aspects: Iterable[Aspects], asked: str, mixed_weight: float) -> list[float]:
    """How much each sentence is an answer: 1 with the aspect alone, less with others, 0 without.

    >>> both, alone = frozenset({"outcome", "population"}), frozenset({"outcome"})
    >>> answer_weights([both, alone, frozenset()], "outcome", 0.1)
    [0.1, 1.0, 0.0]
    """
    return [(1.0 if len(each) == 1 else mixed_weight) if asked in each else 0.0 for each in aspects]


def answer_loss(
    scores: Tensor, weights: Tensor, present: Tensor, *, temperature: float, mixed_request: float
) -> Tensor:
    """-log Σ w p, p being the softmax of a request's scores: the mean over requests that have an answer.

    Args:
        scores: (requests, sentences) of a request and of its document's sentences.
        weights: (requests, sentences), of answers: 1 where they have the aspect alone.
        present: (requests, sentences) bool: the others pad.
        mixed_request: what a request weighs in the mean that has no answer with the aspect alone.

    Returns:
        0, with a gradient of 0, where no request has an answer.
    """
    answered = weights.sum(1) > 0
    scores, weights, present = scores[answered], weights[answered], present[answered]
    logs = (scores / temperature).masked_fill(~present, -torch.inf).log_softmax(dim=1)
    terms = logs.masked_fill(weights == 0, -torch.inf) + weights.log()
    of_request = torch.where((weights == 1).any(1), 1.0, mixed_request).to(scores.dtype)
    return -(of_request * terms.logsumexp(1)).sum() / of_request.sum().clamp(min=1e-9)
