"""Training of encoders: the only folder that imports torch. It takes iterables, and reads no data."""

from __future__ import annotations

from trifuse.encoder.training.checkpoints import open_checkpoint
from trifuse.encoder.training.examples import Example, Passage, sampled_examples
from trifuse.encoder.training.lader import TrainingReport, train_lader
from trifuse.encoder.training.recipe import SMALL, Recipe
from trifuse.encoder.training.trainer import Step

__all__ = [
    "SMALL",
    "Example",
    "Passage",
    "Recipe",
    "Step",
    "TrainingReport",
    "open_checkpoint",
    "sampled_examples",
    "train_lader",
]
