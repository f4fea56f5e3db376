"""Training of two tiny towers: it learns, it can be stopped and resumed, it says what it can't do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train

Make = Callable[[], Iterator[Any]]


def _recipe(**options: Any) -> Any:
    from trifuse.encoder.training import Recipe

    tiny = {"steps": 40, "warmup_steps": 4, "batch": 8, "learning_rate": 3e-3, "document_tokens": 16}
    return Recipe(**(tiny | {"query_tokens": 8} | options))


def _train(towers: Any, examples: Any, recipe: Any, tokenizer: Path, state: Path, **options: Any) -> Any:
    from trifuse.encoder.training.trainer import train_towers

    return train_towers(towers, examples, recipe, tokenizer, state, separator="[SEP]", **options)


def _weights(towers: Any) -> dict[str, Any]:
    return {name: weight.detach().clone() for name, weight in towers.state_dict().items()}


def test_the_loss_falls_and_the_positive_comes_first(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    from trifuse.encoder.training.towers import Towers

    seen: list[Any] = []
    towers = Towers(bert(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    history = _train(towers, examples(), _recipe(), tokenizer_file, tmp_path, on_step=seen.append)
    assert sum(history.loss[-5:]) < 0.3 * sum(history.loss[:5])
    assert sum(history.accuracy[-5:]) / 5 > 0.9  # by chance: 1 of up to 16 candidates
    assert [step.number for step in seen] == list(range(1, 41))
    assert [step.loss for step in seen] == history.loss


def test_a_resumed_run_ends_where_an_uninterrupted_one_does(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    import torch

    from trifuse.encoder.training.towers import Towers

    recipe = _recipe(steps=8)
    whole = Towers(bert())
    expected = _train(whole, examples(), recipe, tokenizer_file, tmp_path / "whole")

    class Killed(Exception):
        pass

    def kill(step: Any) -> None:
        if step.number == 6:  # two steps after the last state
            raise Killed

    with pytest.raises(Killed):
        _train(
            Towers(bert()),
            examples(),
            recipe,
            tokenizer_file,
            tmp_path / "state",
            save_every=2,
            on_step=kill,
        )
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["step-0000004"]
    torch.rand(5)  # whatever ran in between
    resumed = Towers(bert(seed=99))  # its weights come from the state
    history = _train(resumed, examples(), recipe, tokenizer_file, tmp_path / "state", resume=True)
    assert history.loss == pytest.approx(expected.loss, rel=1e-6)
    for name, weight in _weights(whole).items():
        torch.testing.assert_close(_weights(resumed)[name], weight, rtol=1e-6, atol=1e-7)


def test_the_seed_decides(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    from trifuse.encoder.training.towers import Towers

    losses = [
        _train(
            Towers(bert()), examples(), _recipe(steps=3, warmup_steps=0, seed=seed), tokenizer_file, tmp_path
        ).loss
        for seed in (0, 0, 1)
    ]
    assert losses[0] == losses[1] != losses[2]


def test_another_recipe_cant_resume_a_run(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid, TrainingInvalid
    from trifuse.encoder.training.towers import Towers

    recipe = _recipe(steps=4)
    with pytest.raises(TrainingInvalid, match="ended after 3 of 4 steps of 8"):
        _train(Towers(bert()), islice(examples(), 31), recipe, tokenizer_file, tmp_path, save_every=2)
    with pytest.raises(CheckpointInvalid, match=r"begun with margin 5\.0 \(now 4\.0\)"):
        _train(Towers(bert()), examples(), replace(recipe, margin=4.0), tokenizer_file, tmp_path, resume=True)


def test_resuming_what_never_began_begins(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    from trifuse.encoder.training.towers import Towers

    history = _train(Towers(bert()), examples(), _recipe(steps=4), tokenizer_file, tmp_path, resume=True)
    assert history.steps == 4


def test_frozen_layers_stay_as_they_were(
    bert: Callable[..., Any], examples: Make, tokenizer_file: Path, tmp_path: Path
) -> None:
    from trifuse.encoder.training.towers import Towers

    towers = Towers(bert(), trained_layers=1, gradient_checkpointing=True)
    before = _weights(towers)
    _train(towers, examples(), _recipe(steps=4, warmup_steps=1), tokenizer_file, tmp_path)
    moved = {name for name, weight in _weights(towers).items() if not weight.equal(before[name])}
    assert moved
    assert all(".encoder.layer.1." in name for name in moved)
    assert {name.split(".")[0] for name in moved} == {"query", "document"}
