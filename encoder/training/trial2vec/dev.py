"""The score that says when to stop, for which nobody judged anything.

A trial's disease is looked for by all that the trial says beside it, among the diseases of all dev trials:
the mean of 1 / its rank. Trials that share a disease are no rivals.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from trifuse.encoder.training.trial2vec.contrast import AsTensors, on_device, pooled
from trifuse.encoder.training.trial2vec.examples import DISEASE, Diseases, TrialParts, disease_keys
from trifuse.encoder.training.trial2vec.model import Trial2Vec
from trifuse.encoder.types import Vectors

_ROWS = 32
_MOST = 2000


class DevScore:
    """Looks for the diseases of dev trials.

    Args:
        trials: those that name no disease, or nothing else, are left out, as are all behind the first 2,000.
        as_tensors: of parts' texts.

    `trials` holds those that are looked for.
    """

    def __init__(self, model: Trial2Vec, trials: Sequence[TrialParts], as_tensors: AsTensors) -> None:
        self._model = model
        self._as_tensors = as_tensors
        names = [part.name for part in model.parts]
        self._disease = torch.tensor([name == DISEASE for name in names])
        both = [trial for trial in trials if {name == DISEASE for name in trial.parts} == {True, False}]
        self.trials = both[:_MOST] if DISEASE in names else []
        diseases = Diseases([disease_keys(trial) for trial in self.trials])
        self._shared = diseases.shared(np.arange(len(self.trials)))

    def __len__(self) -> int:
        """How many trials are looked for."""
        return len(self.trials)

    @torch.no_grad()
    def __call__(self) -> float:
        """The mean reciprocal rank, from 0 to 1."""
        self._model.eval()
        head, device = self._model.head, next(self._model.parameters()).device
        disease = self._disease.to(device)
        asked, found = [], []
        for start in range(0, len(self.trials), _ROWS):
            tensors = self._as_tensors([trial.parts for trial in self.trials[start : start + _ROWS]])
            vectors, there = pooled(self._model, on_device(tensors, device))
            asked.append(head(vectors, there & ~disease)[0].cpu())
            found.append(head(vectors, there & disease)[0].cpu())
        return mean_reciprocal_rank((torch.cat(asked) @ torch.cat(found).T).numpy(), self._shared)


def mean_reciprocal_rank(scores: Vectors, spared: NDArray[np.bool_]) -> float:
    """Of each row's own column, by (n, n) scores; an equal score of another column is a better one.

    Args:
        spared: (n, n) bool, which columns aren't counted in a row.

    >>> scores = np.array([[0.9, 0.1], [0.8, 0.2]], dtype=np.float32)
    >>> mean_reciprocal_rank(scores, np.eye(2, dtype=bool))
    0.75
    """
    own = np.diag(scores)[:, None]
    return float((1 / (1 + ((scores >= own) & ~spared).sum(axis=1))).mean())
