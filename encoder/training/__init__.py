"""Training of encoders: the only folder that imports torch. It takes iterables, and reads no data.

Its names are imported when they are first asked for: what reads labelled texts (`aspects`) needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trifuse.encoder.training.checkpoints import open_checkpoint
    from trifuse.encoder.training.examples import Example, Passage, sampled_examples
    from trifuse.encoder.training.lader import TrainingReport, train_lader
    from trifuse.encoder.training.recipe import SMALL, Recipe
    from trifuse.encoder.training.trainer import Step
else:
    _MODULES = {
        "SMALL": "recipe",
        "Example": "examples",
        "Passage": "examples",
        "Recipe": "recipe",
        "Step": "trainer",
        "TrainingReport": "lader",
        "open_checkpoint": "checkpoints",
        "sampled_examples": "examples",
        "train_lader": "lader",
    }

    def __getattr__(name):
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


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
