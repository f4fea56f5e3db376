"""One vector for each aspect, whatever the title: what the queries of an adapter are drawn to."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from trifuse.encoder.training.aspects.asked import AskedDocuments
from trifuse.encoder.training.aspects.dev import scores_of
from trifuse.encoder.training.aspects.losses import answer_loss
from trifuse.encoder.training.aspects.recipe import Recipe
from trifuse.encoder.training.schedule import learning_rate_factor

_EPOCHS = 4
_LEARNING_RATE = 2e-3
_WEIGHT_DECAY = 0.01
_START = 0.02  # the standard deviation of what a vector begins with


def aspect_vectors(asked: AskedDocuments, recipe: Recipe) -> Tensor:
    """(aspects, dim) of unit norm: by the loss of the adapter itself, in seconds, as no query is encoded.

    Which sentences tell an aspect is much the same whatever the topic, and a title's own part of it is easily
    learned by heart. They are the same for the same documents and seed.
    """
    dim = asked.answers([0]).candidates.shape[2]
    drawn = torch.Generator().manual_seed(recipe.seed)
    found = nn.Parameter(torch.randn(len(asked.aspects), dim, generator=drawn) * _START)
    optimizer = torch.optim.AdamW([found], lr=_LEARNING_RATE, weight_decay=_WEIGHT_DECAY)
    steps = _EPOCHS * asked.batches
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: learning_rate_factor(step, steps // 10, steps)
    )
    for number in range(_EPOCHS):
        for chosen in asked.epoch(number):
            answers = asked.answers(chosen)
            queries = functional.normalize(found, dim=1)[answers.aspects]
            loss = answer_loss(
                scores_of(queries, answers.candidates),
                answers.weights,
                answers.sentences,
                temperature=recipe.temperature,
                mixed_request=recipe.mixed_request,
            )
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
    return functional.normalize(found.detach(), dim=1)
