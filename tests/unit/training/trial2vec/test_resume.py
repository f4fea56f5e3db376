"""A run is resumed with what it was begun with, and from what is whole; one run at a time is in a folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.train


class Killed(Exception):
    """Ends a run as a signal would."""


def _kill_at(stage: str, done: int) -> Callable[[Any], None]:
    def kill(so_far: Any) -> None:
        if so_far.stage == stage and so_far.done == done:
            raise Killed

    return kill


@pytest.fixture
def train(checkpoint: Path, trials: Any, organs: Any, tmp_path: Path) -> Callable[..., Any]:
    """`train(recipe, **options)`: learns from ten trials, is ended by six others."""

    def run(recipe: Any, **options: Any) -> Any:
        from trifuse.encoder.training.trial2vec import train_trial2vec

        given = {
            "checkpoint": str(checkpoint),
            "trials": trials[:10],
            "dev": trials[10:],
            "source": organs,
            "name": "organs",
            "folder": tmp_path / "model",
            "save_every": 2,
        } | options
        return train_trial2vec(
            given.pop("checkpoint"), given.pop("trials"), recipe, given.pop("folder"), **given
        )

    return run


def _other_checkpoint(bert: Callable[..., Any], checkpoint: Path, folder: Path) -> str:
    shutil.copytree(checkpoint, folder)
    bert(7, num_hidden_layers=1, max_position_embeddings=256).save_pretrained(folder)
    return str(folder)


def test_what_is_learned_from_must_be_the_same(
    train: Callable[..., Any],
    recipe: Callable[..., Any],
    trials: Any,
    bert: Callable[..., Any],
    checkpoint: Path,
    tmp_path: Path,
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    with pytest.raises(Killed):
        train(recipe(steps=4), progress=_kill_at("trials", 3))
    renamed = [trials[0]._replace(conditions=("bone disease",)), *trials[1:10]]
    other = _other_checkpoint(bert, checkpoint, tmp_path / "other")
    for said, options in (
        (r"trials 10 \(", {"trials": renamed}),
        (r"dev trials 6 \(\w+\) \(now 5 ", {"dev": trials[11:]}),
        ("entities ", {"source": None}),
        ("backbone ", {"checkpoint": other}),
    ):
        with pytest.raises(CheckpointInvalid, match=f"begun with {said}"):
            train(recipe(steps=4), resume=True, **options)
    assert train(recipe(steps=4), resume=True).as_dict()["steps"] == 4


@pytest.mark.parametrize(("stage", "done"), [("words", 5), ("trials", 1)])
def test_words_are_those_of_the_same_texts_and_checkpoint(
    train: Callable[..., Any],
    recipe: Callable[..., Any],
    bert: Callable[..., Any],
    checkpoint: Path,
    tmp_path: Path,
    stage: str,
    done: int,
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    chosen = recipe(steps=2, mlm_epochs=1, mlm_batch=4)
    with pytest.raises(Killed):
        train(chosen, texts=["the heart"], progress=_kill_at(stage, done))
    with pytest.raises(CheckpointInvalid, match=r"begun with .*texts"):
        train(chosen, texts=["the bone."], resume=True)
    other = _other_checkpoint(bert, checkpoint, tmp_path / "other")
    with pytest.raises(CheckpointInvalid, match=r"begun with .*backbone"):
        train(chosen, texts=["the heart"], checkpoint=other, resume=True)
    assert train(chosen, texts=["the heart"], resume=True).words_loss


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("recipe.json", "half"),
        ("recipe.json", "other"),
        ("recipe.json", "gone"),
        ("model.safetensors", "half"),
        ("model.safetensors", "gone"),
        ("optimizer.bin", "nothing"),
        ("custom_checkpoint_0.pkl", "half"),
        ("custom_checkpoint_1.pkl", "other"),
    ],
)
def test_a_damaged_state_is_said_to_be(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path, name: str, damage: str
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    with pytest.raises(Killed):
        train(recipe(steps=4), progress=_kill_at("trials", 3))
    state = tmp_path / "model" / "state" / "trials" / "step-0000002"
    file = state / name
    content = file.read_bytes()
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes({"half": content[: len(content) // 2], "nothing": b"", "other": b"[1]"}[damage])
    with pytest.raises(CheckpointInvalid, match=r"step-0000002 is damaged .*delete it"):
        train(recipe(steps=4), resume=True)
    shutil.rmtree(state)
    assert train(recipe(steps=4), resume=True).as_dict()["steps"] == 4


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04", b"[1]"])
def test_damaged_words_are_said_to_be(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path, damage: bytes
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    chosen = recipe(steps=1, warmup_steps=0, mlm_epochs=1, mlm_batch=4)
    with pytest.raises(Killed):
        train(chosen, progress=_kill_at("trials", 1))
    words = tmp_path / "model" / "state" / "words.pt"
    words.write_bytes(damage)
    with pytest.raises(CheckpointInvalid, match=r"words\.pt is damaged .*delete it"):
        train(chosen, resume=True)
    words.unlink()
    assert train(chosen, resume=True).words_loss


def test_two_runs_in_one_folder(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path
) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    refused: list[str] = []

    def another(so_far: Any) -> None:
        if so_far.stage == "trials" and so_far.done == 1:
            with pytest.raises(TrainingInvalid, match="another run is training into") as error:
                train(recipe(steps=2))
            refused.append(str(error.value))

    train(recipe(steps=2), progress=another)
    assert len(refused) == 1
    train(recipe(steps=2))  # it is free again


def test_a_folder_that_cant_be_written_to_is_said_before_the_work(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    seen: list[Any] = []
    with pytest.raises(OSError, match="file"):
        train(recipe(), folder=tmp_path / "file" / "model", progress=seen.append)
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    if os.getuid():  # the superuser may write everywhere
        with pytest.raises(PermissionError):
            train(recipe(), folder=closed, progress=seen.append)
    assert not seen


@pytest.mark.parametrize(("stage", "option"), [("words", "mlm_learning_rate"), ("trials", "learning_rate")])
def test_a_training_that_diverges_is_ended(
    train: Callable[..., Any], recipe: Callable[..., Any], stage: str, option: str
) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    chosen = recipe(steps=8, trained_layers=None, mlm_epochs=8, mlm_batch=4, **{option: 1e30})
    seen: list[str] = []
    with pytest.raises(TrainingInvalid, match="diverged; give a lower learning rate"):
        train(chosen, progress=lambda so_far: seen.append(so_far.stage))
    assert (seen[-1] if seen else "words") == stage


def test_a_full_disk_is_said_to_be(
    train: Callable[..., Any], recipe: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What torch raises of one, at the first state and at what masked words have taught."""
    import torch

    def full(*_: Any, **__: Any) -> None:
        raise RuntimeError("[enforce fail at inline_container.cc:671] . unexpected pos 22848 vs 22736")

    monkeypatch.setattr(torch, "save", full)
    with pytest.raises(OSError, match=r"step-0000002\.new can't be written"):
        train(recipe(steps=4))
    with pytest.raises(OSError, match=r"words\.new can't be written"):
        train(recipe(steps=4, mlm_epochs=1, mlm_batch=99))
