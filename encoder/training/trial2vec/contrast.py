"""One step's vectors and losses: what `Draw` compares, through the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from accelerate import Accelerator
from torch import Tensor, nn

from trifuse.encoder.training.trainer import of_all
from trifuse.encoder.training.trial2vec.draw import Draw
from trifuse.encoder.training.trial2vec.examples import TITLE
from trifuse.encoder.training.trial2vec.losses import info_nce
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.recipe import Recipe

Tensors = tuple[Tensor, ...]
"""Parts as vectors and which there are (two tensors), or as tokens (three)."""

AsTensors = Callable[[Sequence[Mapping[str, str]]], Tensors]


class Losses(NamedTuple):
    """Of one step.

    Args:
        whole: L_g + weight · L_l.
        over_trials, over_texts: L_g and L_l.
        accuracy: share of the trials whose other view is nearest, among those of the minibatch.
    """

    whole: Tensor
    over_trials: Tensor
    over_texts: Tensor
    accuracy: Tensor


class Contrast(nn.Module):
    """The vectors of a minibatch: all of them in one pass, as distributed training wants it."""

    def __init__(self, model: Trial2Vec) -> None:
        super().__init__()
        self.model = model
        names = [part.name for part in model.parts]
        self._title = names.index(TITLE) if TITLE in names else None

    def forward(self, trials: Tensors, titles: Tensors, texts: Tensors, masks: Tensor, own: Tensor) -> Tensor:
        """(6, n, dim): trials, their other views, their negatives; texts, their positives, their negatives.

        Args:
            trials: of n trials with all their parts.
            titles: of n trials with the other title alone.
            texts: of 2n texts, the positives and the negatives, each alone in its part; nothing where there
                is none.
            masks: (3, n, parts) bool, the parts that the two views and the negative have.
            own: (n,) the part that the texts are of.
        """
        vectors, there = pooled(self.model, trials)
        changed, changed_there = vectors, there
        if self._title is not None:
            other, has = pooled(self.model, titles)
            at = torch.arange(vectors.shape[1], device=vectors.device) == self._title
            swapped = at & has[:, self._title, None]
            changed = torch.where(swapped[:, :, None], other, vectors)
            changed_there = there | swapped
        head = self.model.head
        first, second = (head(vectors, there & mask)[0] for mask in masks[:2])
        negative = head(changed, changed_there & masks[2])[0]
        local = head(vectors, there)[1][torch.arange(len(own), device=own.device), own]
        # A text stands alone in its part: the others' vectors are zero.
        exchanged = head(*pooled(self.model, texts))[1].sum(1).unflatten(0, (2, -1))
        return torch.stack([first, second, negative, local, *exchanged])


def pooled(model: Trial2Vec, tensors: Tensors) -> tuple[Tensor, Tensor]:
    """Vectors of parts, and which there are."""
    if len(tensors) == 2:
        return tensors[0], tensors[1]
    return model.pooled(*tensors)


def losses_of(
    contrast: Any, draw: Draw, as_tensors: AsTensors, recipe: Recipe, accelerator: Accelerator
) -> Losses:
    """The losses of a minibatch, of which this process computes its share of vectors.

    Args:
        contrast: a `Contrast`, as accelerate has prepared it.
        as_tensors: of parts' texts.
    """
    count = len(draw.trials) // accelerator.num_processes
    own = slice(accelerator.process_index * count, (accelerator.process_index + 1) * count)
    device = accelerator.device
    names = [part.name for part in accelerator.unwrap_model(contrast).model.parts]
    parts = [names.index(each[0]) if each else 0 for each in draw.local]
    positives, negatives = draw.texts()[: len(draw.local)], draw.texts()[len(draw.local) :]
    vectors = contrast(
        on_device(as_tensors(draw.parts[own]), device),
        on_device(as_tensors(draw.titles[own]), device),
        on_device(as_tensors([*positives[own], *negatives[own]]), device),
        torch.from_numpy(draw.masks()[:, own]).to(device),
        torch.tensor(parts[own], device=device),
    )
    # Each process computes the whole loss: the mean of the gradients that distributed training takes over the
    # processes is then that of the whole loss.
    return _losses(of_all(vectors, accelerator, dim=1), draw, recipe)


def _losses(vectors: Tensor, draw: Draw, recipe: Recipe) -> Losses:
    """The losses of a whole minibatch, by (6, n, dim) vectors."""
    first, second, negative, text, positive, other = vectors
    paper = recipe.views == "dropout"
    own = torch.eye(len(first), dtype=torch.bool, device=vectors.device)
    shared = torch.from_numpy(draw.shared).to(vectors.device) & ~own
    excluded = shared if recipe.spare_same_disease else torch.zeros_like(own)
    over_trials = info_nce(
        first,
        second,
        negatives=negative,
        without_negative=torch.from_numpy(draw.without_negative).to(vectors.device),
        others=None if paper else second,
        excluded=excluded,
        temperature=recipe.temperature,
    )
    has = torch.tensor([each is not None for each in draw.local], device=vectors.device)
    over_texts = vectors.sum() * 0.0
    if recipe.local_weight and bool(has.any()):
        over_texts = info_nce(
            text[has],
            positive[has],
            negatives=other[has],
            others=None if paper else positive[has],
            excluded=excluded[has][:, has],
            temperature=recipe.local_temperature,
        )
    nearest = (first @ second.T).detach().masked_fill(excluded, -torch.inf).argmax(1)
    return Losses(
        over_trials + recipe.local_weight * over_texts,
        over_trials,
        over_texts,
        (nearest == torch.arange(len(first), device=vectors.device)).float().mean(),
    )


def on_device(tensors: Tensors, device: torch.device) -> Tensors:
    """The same on a processor."""
    return tuple(each.to(device) for each in tensors)
