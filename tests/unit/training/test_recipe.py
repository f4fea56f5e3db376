"""Recipes: the paper's numbers, and what makes no recipe."""

from __future__ import annotations

from typing import Any

import pytest

from trifuse.encoder.errors import TrainingInvalid

pytestmark = pytest.mark.train


def test_the_defaults_are_the_papers() -> None:
    """Jin, Shin, Lu 2023, section 3.1."""
    from trifuse.encoder.training import Recipe

    said = {
        "steps": 20_000,
        "warmup_steps": 10_000,
        "batch": 256,
        "learning_rate": 2e-5,
        "weight_decay": 1e-2,
        "nll_weight": 0.9,
        "margin": 5.0,
    }
    assert said.items() <= Recipe().as_dict().items()
    assert Recipe().trained_layers is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"batch": 1}, "batch=1: a recipe needs 2 at least"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"nll_weight": 1.5}, "nll_weight=1.5: it is a share"),
        ({"steps": 100}, "warmup_steps=10000 of steps=100"),
        ({"trained_layers": 0}, "trained_layers=0"),
    ],
)
def test_what_is_no_recipe(options: dict[str, Any], said: str) -> None:
    from trifuse.encoder.training import Recipe

    with pytest.raises(TrainingInvalid, match=said):
        Recipe(**options)
