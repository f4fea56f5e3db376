"""Recipes: the paper's defaults, and numbers that nothing can be trained by."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

pytestmark = pytest.mark.train


def test_the_defaults_are_the_papers() -> None:
    from trifuse.encoder.training.trial2vec import SMALL, Recipe
    from trifuse.encoder.training.trial2vec.attention import PAPER

    recipe = Recipe()
    assert (recipe.mlm_epochs, recipe.mlm_batch, recipe.mlm_learning_rate) == (5, 100, 5e-5)
    assert (recipe.learning_rate, recipe.batch, recipe.weight_decay) == (2e-5, 50, 1e-4)
    assert (recipe.form, recipe.views, recipe.temperature, recipe.frozen) == (PAPER, "dropout", 1.0, False)
    assert SMALL.frozen
    assert SMALL.mlm_epochs == 0
    assert json.loads(json.dumps(SMALL.as_dict())) == SMALL.as_dict()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"steps": 0}, "steps=0: a recipe needs 1 at least"),
        ({"batch": 1}, "batch=1: a recipe needs 2"),
        ({"dim": 0}, "dim=0: a recipe needs 1"),
        ({"learning_rate": float("inf")}, "learning_rate=inf: .* a finite number"),
        ({"local_weight": float("nan")}, "local_weight=nan: .* a finite number"),
        ({"temperature": 0.0}, "temperature=0.0"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"trained_layers": -1}, "trained_layers=-1"),
        ({"dropout": 1.0}, "nothing would be left"),
        ({"steps": 5, "warmup_steps": 6}, "would never be reached"),
        ({"views": "both"}, "views='both'"),
        ({"prior": {"title": 0.0}}, "a weight is above 0"),
    ],
)
def test_what_no_recipe_is(given: dict[str, Any], said: str) -> None:
    from trifuse.encoder.errors import TrainingInvalid
    from trifuse.encoder.training.trial2vec import Recipe

    with pytest.raises(TrainingInvalid, match=said):
        replace(Recipe(), **given)
