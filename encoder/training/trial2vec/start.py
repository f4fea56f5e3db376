"""Where the attention over parts begins."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trifuse.encoder.errors import TrainingInvalid
from trifuse.encoder.training.trial2vec.contrast import AsTensors, on_device, pooled
from trifuse.encoder.training.trial2vec.examples import TrialParts, minibatches
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.training.trial2vec.recipe import Recipe

_SAMPLE = 4096
_ROWS = 32


@torch.no_grad()
def start_head(model: Trial2Vec, trials: Sequence[TrialParts], as_tensors: AsTensors, recipe: Recipe) -> None:
    """Set the parts' weights and, where the recipe says so, their centres and principal axes.

    Args:
        trials: of which up to 4,096, drawn by the seed, say where the centres are.
        as_tensors: of parts' texts.

    Raises:
        TrainingInvalid: the recipe's `prior` names a part that there isn't.
    """
    names = [part.name for part in model.parts]
    unknown = sorted(set(recipe.prior) - set(names))
    if unknown:
        raise TrainingInvalid(
            f"prior names {', '.join(unknown)}: expected parts, which are {', '.join(names)}"
        )
    device = next(model.parameters()).device
    model.head.start(prior=torch.tensor([recipe.prior.get(name, 1.0) for name in names], device=device))
    if not recipe.centred:
        return
    model.eval()
    some = next(minibatches(len(trials), min(len(trials), _SAMPLE), recipe.seed)).tolist()
    found = []
    for start in range(0, len(some), _ROWS):
        tensors = as_tensors([trials[number].parts for number in some[start : start + _ROWS]])
        found.append(pooled(model, on_device(tensors, device)))
    vectors = torch.cat([each for each, _ in found])
    there = torch.cat([each for _, each in found])
    centres = vectors.sum(0) / there.sum(0).clamp(min=1)[:, None]
    model.head.start(centres=centres)
    width = vectors.shape[-1]
    if model.head.dim < width:
        flat = model.head.inner(vectors, there).flatten(0, 1).double()
        _, axes = torch.linalg.eigh(flat.T @ flat)  # in ascending order
        model.head.start(values=axes.T.flip(0)[: model.head.dim].float())
