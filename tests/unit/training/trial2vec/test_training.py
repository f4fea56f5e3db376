"""Contrastive training on a few made-up trials: it learns, resumes, repeats itself, and ends in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train


DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


class Killed(Exception):
    """Ends a run as a signal would."""


@pytest.fixture
def train(
    bert: Callable[..., Any], tokenizer_file: Path, trials: Any, organs: Any, tmp_path: Path
) -> Callable[..., Any]:
    """`train(recipe, state, seed, **options)`: a model that began with that seed, and its history."""

    def run(recipe: Any, state: str = "state", seed: int = 0, learned: Any = trials, **options: Any) -> Any:
        import torch

        from trifuse.encoder.training.trial2vec.dev import DevScore
        from trifuse.encoder.training.trial2vec.draw import Draws
        from trifuse.encoder.training.trial2vec.learn import cut_parts
        from trifuse.encoder.training.trial2vec.local import LocalPairs
        from trifuse.encoder.training.trial2vec.model import PARTS, Trial2Vec
        from trifuse.encoder.training.trial2vec.packing import Packer
        from trifuse.encoder.training.trial2vec.run import accelerator_for
        from trifuse.encoder.training.trial2vec.trainer import train_contrast

        parts = cut_parts(PARTS, recipe)
        torch.manual_seed(seed)
        model = Trial2Vec(bert(seed, **DROPOUT), parts, form=recipe.form)
        model.backbone.requires_grad_(not recipe.frozen)
        packer = Packer(tokenizer_file, parts)
        draws = Draws(learned, parts, recipe, LocalPairs(organs, recipe.key_tokens))
        options = {"dev": DevScore(model, learned, packer.tensors)} | options
        history = train_contrast(
            model, draws, packer.tensors, recipe, tmp_path / state, accelerator_for(recipe.batch), **options
        )
        return model, history

    return run


def _weights(model: Any) -> dict[str, Any]:
    return {name: weight.detach().clone() for name, weight in model.state_dict().items()}


@pytest.mark.parametrize("layers", [0, None])
@pytest.mark.parametrize("views", ["dropout", "complementary"])
def test_the_loss_falls(
    train: Callable[..., Any], recipe: Callable[..., Any], trials: Any, views: str, layers: int | None
) -> None:
    """Of trials of seven organs, each of which can be told by its organ."""
    rate = 1e-2 if layers == 0 else 1e-3
    chosen = recipe(steps=60, batch=7, views=views, trained_layers=layers, learning_rate=rate)
    _, history = train(chosen, learned=trials[3::2], dev=None)
    assert sum(history.loss[-5:]) < 0.7 * sum(history.loss[:5])
    assert sum(history.accuracy[-5:]) > sum(history.accuracy[:5])
    for whole, over_trials, over_texts in zip(
        history.loss, history.loss_trials, history.loss_texts, strict=True
    ):
        assert whole == pytest.approx(over_trials + chosen.local_weight * over_texts, rel=1e-5)
        assert over_texts > 0
    assert (history.dev, history.best_step) == ([], None)


@pytest.mark.parametrize("layers", [0, None])
def test_a_resumed_run_ends_where_an_uninterrupted_one_does(
    train: Callable[..., Any], recipe: Callable[..., Any], layers: int | None
) -> None:
    import torch

    chosen = recipe(trained_layers=layers, learning_rate=3e-3)
    whole, expected = train(chosen, "whole")

    def kill(step: Any) -> None:
        if step.number == 7:
            raise Killed

    with pytest.raises(Killed):
        train(chosen, save_every=5, on_step=kill)
    torch.rand(5)  # whatever ran in between
    resumed, history = train(chosen, seed=9 if layers is None else 0, resume=True)
    for series in ("loss", "loss_trials", "loss_texts", "accuracy"):
        assert getattr(history, series) == pytest.approx(getattr(expected, series), rel=1e-6)
    assert [step for step, _ in history.dev] == [0, 2, 4, 6, 8]
    assert [score for _, score in history.dev] == pytest.approx([score for _, score in expected.dev])
    assert history.best_step == expected.best_step
    torch.testing.assert_close(_weights(resumed), _weights(whole), rtol=1e-5, atol=1e-6)


def test_the_seed_decides(train: Callable[..., Any], recipe: Callable[..., Any]) -> None:
    losses = [train(recipe(steps=3, seed=seed))[1].loss for seed in (0, 0, 1)]
    assert losses[0] == losses[1] != losses[2]


def test_it_ends_when_the_dev_score_falls_with_the_weights_of_the_best(
    train: Callable[..., Any], recipe: Callable[..., Any]
) -> None:
    """By scores that are given: 0.1 before, then 0.3, 0.5, 0.5, 0.4."""
    import torch

    seen: list[dict[str, Any]] = []

    class Given:
        def __init__(self) -> None:
            self.scores = iter([0.1, 0.3, 0.5, 0.5, 0.4, 0.9])

        def __call__(self) -> float:
            return next(self.scores)

    chosen = recipe(steps=20, patience=2)
    model, history = train(chosen, dev=Given())
    assert history.steps == 8  # two looks after the best one, at step 4
    assert history.dev == [[0, 0.1], [2, 0.3], [4, 0.5], [6, 0.5], [8, 0.4]]
    assert history.best_step == 4
    short, _ = train(replace(chosen, steps=4, warmup_steps=1), "short", dev=None)
    seen.append(_weights(short))
    assert _weights(model).keys() == seen[0].keys()
    moved = (_weights(model)["head.value.weight"] - torch.eye(32)).abs().max()
    assert moved > 0
    assert history.best["head.value.weight"].equal(_weights(model)["head.value.weight"])


def test_a_frozen_backbone_stays_as_it_was(
    train: Callable[..., Any], recipe: Callable[..., Any], bert: Callable[..., Any]
) -> None:
    model, _ = train(recipe(steps=4))
    assert all(
        weight.equal(bert().state_dict()[name]) for name, weight in model.backbone.state_dict().items()
    )
    assert not model.head.value.weight.equal(model.head.value.weight.new_zeros(32, 32).fill_diagonal_(1))


def test_another_recipe_or_other_trials_cant_resume_a_run(
    train: Callable[..., Any], recipe: Callable[..., Any]
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    def kill(step: Any) -> None:
        if step.number == 5:
            raise Killed

    with pytest.raises(Killed):
        train(recipe(), save_every=4, on_step=kill, learned_from={"trials": "16 (abc)"})
    with pytest.raises(CheckpointInvalid, match=r"begun with temperature 0\.1 \(now 0\.2\)"):
        train(recipe(temperature=0.2), resume=True, learned_from={"trials": "16 (abc)"})
    with pytest.raises(CheckpointInvalid, match=r"begun with trials 16 \(abc\) \(now 15 \(def\)\)"):
        train(recipe(), resume=True, learned_from={"trials": "15 (def)"})


def test_resuming_what_never_began_begins(train: Callable[..., Any], recipe: Callable[..., Any]) -> None:
    assert train(recipe(), resume=True)[1].steps == 8
