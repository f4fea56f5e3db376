"""Trial2Vec (Wang and Sun 2022): the parts of a trial to one vector, learned without labels."""

from __future__ import annotations

from trifuse.encoder.training.trial2vec.examples import TrialParts
from trifuse.encoder.training.trial2vec.model import PARTS, Trial2Vec
from trifuse.encoder.training.trial2vec.recipe import SMALL, Recipe
from trifuse.encoder.training.trial2vec.report import Trial2VecReport
from trifuse.encoder.training.trial2vec.run import Progress
from trifuse.encoder.training.trial2vec.train import train_trial2vec

__all__ = [
    "PARTS",
    "SMALL",
    "Progress",
    "Recipe",
    "Trial2Vec",
    "Trial2VecReport",
    "TrialParts",
    "train_trial2vec",
]
