"""From a checkpoint and trials to a model's folder, by all stages, and on from a stop."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trifuse.encoder import load_encoder

pytestmark = pytest.mark.train


class Killed(Exception):
    """Ends a run as a signal would."""


@pytest.fixture
def train(checkpoint: Path, trials: Any, organs: Any, tmp_path: Path) -> Callable[..., Any]:
    """`train(recipe, folder, **options)`: learns from ten trials, is ended by six others."""

    def run(recipe: Any, folder: str = "model", **options: Any) -> Any:
        from trifuse.encoder.training.trial2vec import train_trial2vec

        given = {"name": "organs", "source": organs, "trials": trials[:10], "dev": trials[10:]} | options
        return train_trial2vec(str(checkpoint), given.pop("trials"), recipe, tmp_path / folder, **given)

    return run


def test_a_checkpoint_becomes_a_model(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path
) -> None:
    seen: list[tuple[str, int, int]] = []
    report = train(recipe(), progress=lambda so_far: seen.append(so_far[:3]))
    folder = tmp_path / "model"
    said = json.loads((folder / "training.json").read_text())
    assert said == json.loads(json.dumps(report.as_dict()))
    assert (said["model"], said["trials"], said["dev_trials"], said["steps"]) == ("organs", 10, 6, 8)
    assert (said["device"], said["seed"], len(said["sha256"])) == ("cpu", 0, 64)
    assert said["parity"] >= 0.9999
    assert said["dev_best"] == max(score for _, score in said["dev"][1:])
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.onnx",
        "tokenizer.json",
        "training.json",
        "trifuse.json",
    ]
    assert {stage for stage, _, _ in seen} == {"parts", "trials"}
    assert seen[-1] == ("trials", 8, 8)
    encoder = load_encoder(str(folder))
    assert encoder.space.parts == ("title", "intervention", "condition", "outcome", "context")
    vectors = encoder.encode_documents(
        [{"title": "aspirin", "condition": "heart disease"}, {"outcome": "skin"}]
    )
    assert vectors.shape == (2, 32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)


def test_a_model_in_int8(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 32 random numbers more is lost by rounding than a model that serves may lose."""
    from trifuse.encoder.training.trial2vec import export

    monkeypatch.setattr(export, "LEAST_ROUNDED", 0.95)
    plain = train(recipe(steps=4), "plain", cache=tmp_path / "vectors")
    report = train(recipe(steps=4), int8=True, cache=tmp_path / "vectors")
    folder = tmp_path / "model"
    assert sorted(path.name for path in folder.iterdir()) == [
        "model.onnx",
        "tokenizer.json",
        "training.json",
        "trifuse.json",
    ]
    assert report.loss == plain.loss
    assert report.parity == plain.parity >= 0.9999
    assert (plain.rounded, 0.95 <= report.rounded < 1) == (None, True)
    assert report.sha256 == hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest() != plain.sha256
    own, rounded = load_encoder(str(tmp_path / "plain")), load_encoder(str(folder))
    assert (rounded.space.encoder, rounded.space.precision) == ("organs", "int8")
    assert rounded.space.id != own.space.id
    trial = [{"title": "aspirin treatment", "condition": "heart disease"}]
    assert own.encode_documents(trial) @ rounded.encode_documents(trial).T >= 0.9


def test_the_same_command_gives_the_same_model(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path
) -> None:
    one = train(recipe(steps=4), "one", cache=tmp_path / "vectors")
    two = train(recipe(steps=4), "two", cache=tmp_path / "vectors")  # finds the vectors that one has made
    three = train(recipe(steps=4, seed=1), "three", cache=tmp_path / "vectors")
    assert one.sha256 == two.sha256 != three.sha256
    assert one.loss == two.loss != three.loss


def test_both_trainings_are_resumed(
    train: Callable[..., Any], recipe: Callable[..., Any], tmp_path: Path
) -> None:
    chosen = recipe(mlm_epochs=2, mlm_batch=4, trained_layers=None, mlm_learning_rate=1e-3)
    whole = train(chosen, "whole", texts=["treatment of the skin"] * 4)
    assert len(whole.words_loss) == 2 * ((sum(len(trial) for trial in _parts(train)) + 4) // 4)

    def kill_at(stage: str, done: int) -> Callable[[Any], None]:
        def kill(so_far: Any) -> None:
            if so_far.stage == stage and so_far.done == done:
                raise Killed

        return kill

    for stage, done in (("words", 10), ("trials", 5)):
        with pytest.raises(Killed):
            train(
                chosen,
                texts=["treatment of the skin"] * 4,
                resume=True,
                save_every=4,
                progress=kill_at(stage, done),
            )
        assert [path.name for path in (tmp_path / "model").iterdir()] == ["state"]
    report = train(chosen, texts=["treatment of the skin"] * 4, resume=True)
    assert report.words_loss == pytest.approx(whole.words_loss, rel=1e-5)
    assert report.loss == pytest.approx(whole.loss, rel=1e-4)
    assert not (tmp_path / "model" / "state").exists()


def _parts(train: Any) -> list[dict[str, str]]:
    """The parts of the trials that are learned from."""
    trials = train.__closure__[[*train.__code__.co_freevars].index("trials")].cell_contents
    return [trial.parts for trial in trials[:10]]


def test_words_that_were_learned_otherwise_arent_taken(
    train: Callable[..., Any], recipe: Callable[..., Any]
) -> None:
    from trifuse.encoder.errors import CheckpointInvalid

    def kill(so_far: Any) -> None:
        if so_far.stage == "trials":
            raise Killed

    with pytest.raises(Killed):
        train(recipe(mlm_epochs=1), progress=kill)
    with pytest.raises(CheckpointInvalid, match="'mlm_epochs': 1"):
        train(recipe(mlm_epochs=2), resume=True)


def test_trials_without_text_are_left_out_and_texts_are_cleaned(
    recipe: Callable[..., Any], trials: Any
) -> None:
    from trifuse.encoder.training.trial2vec import PARTS, TrialParts
    from trifuse.encoder.training.trial2vec.learn import usable

    given = [TrialParts("a", {"title": " Heart&amp;lung\n", "sponsor": "x"}), TrialParts("b", {"title": " "})]
    found, without = usable([*given, TrialParts("c", {})], PARTS)
    assert [(trial.id, trial.parts) for trial in found] == [("a", {"title": "Heart&lung"})]
    assert without == 2


def test_what_cant_be_trained(train: Callable[..., Any], recipe: Callable[..., Any]) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    with pytest.raises(TrainingInvalid, match="0 trials to train on"):
        train(recipe(), trials=[])
    with pytest.raises(TrainingInvalid, match="prior names sponsor"):
        train(recipe(prior={"sponsor": 1.0}), "other")
    with pytest.raises(TrainingInvalid, match="max_tokens 65"):
        train(recipe(context_tokens=65), "long")


def test_without_entities_without_dev_trials_and_in_another_dimension(
    train: Callable[..., Any], recipe: Callable[..., Any]
) -> None:
    from trifuse.encoder.training.trial2vec import Recipe

    report = train(recipe(), source=None, dev=())
    assert set(report.loss_texts) == {0.0}
    assert (report.dev_trials, report.best_step, report.as_dict()["dev_best"]) == (0, None, None)
    paper = Recipe(steps=2, batch=4, mlm_epochs=0, key_tokens=8, context_tokens=16, dim=128)
    assert len(train(paper, "paper").loss) == 2


def test_the_axes_that_a_smaller_dimension_begins_with(bert: Callable[..., Any]) -> None:
    """The parts' vectors lie on three axes, of which two say most: those are kept."""
    import torch

    from trifuse.encoder.training.trial2vec import PARTS, SMALL, Trial2Vec, TrialParts
    from trifuse.encoder.training.trial2vec.start import start_head

    model = Trial2Vec(bert(hidden_size=256, max_position_embeddings=256, num_hidden_layers=1), PARTS, 128)
    sides = torch.zeros(8, 256)
    for row, axis in enumerate((0, 0, 0, 1, 1, 1, 2, 2)):
        sides[row, axis] = 1.0 if row % 2 else -1.0
    some = [TrialParts(str(row), {"title": str(row)}) for row in range(8)]

    def as_tensors(items: Any) -> Any:
        rows = [int(item["title"]) for item in items]
        there = torch.zeros(len(rows), 5, dtype=torch.bool)
        there[:, 0] = True
        return sides[rows][:, None] * there[:, :, None], there

    start_head(model, some, as_tensors, SMALL)
    torch.testing.assert_close(model.head.centres[0], sides.mean(0))
    assert not model.head.centres[1:].any()
    spanned = model.head.value.weight[:2].abs()  # the strongest two axes
    assert (spanned[:, 3:] < 1e-3).all()
    expected = torch.tensor([1.0, 3.0]).log()
    torch.testing.assert_close(model.head.prior[0, [0, 2]], expected)
