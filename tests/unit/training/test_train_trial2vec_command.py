"""`trifuse train trial2vec`: from records to a model that embeds; usage; records that can't be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import train
from trifuse.encoder import load_encoder
from trifuse.indexer.readers import Record, Rejection
from trifuse.indexer.trial import Trial

pytestmark = pytest.mark.train

ORGANS = ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood")


@pytest.fixture
def run() -> Callable[..., Any]:
    app = typer.Typer()
    train.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str | Path) -> Any:
        return CliRunner().invoke(app, ["train", "trial2vec", *map(str, arguments)])

    return invoke


@pytest.fixture
def checkpoint(bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path) -> Path:
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path / "checkpoint"
    bert(num_hidden_layers=1, max_position_embeddings=256).save_pretrained(folder)
    special = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
    PreTrainedTokenizerFast(tokenizer_file=str(tokenizer_file), **special).save_pretrained(folder)
    return folder


def _lines(count: int = 40) -> list[str]:
    return [
        json.dumps(
            {
                "nct_id": f"NCT{number:08d}",
                "brief_title": f"aspirin treatment of {ORGANS[number % 8]}",
                "brief_summary": f"a trial of the {ORGANS[number % 8]}",
                "conditions": [f"{ORGANS[number % 8]} {('disease', 'aspirin')[number % 2]}"],
            }
        )
        for number in range(count)
    ]


@pytest.fixture
def trials(tmp_path: Path) -> Path:
    path = tmp_path / "trials.jsonl"
    path.write_text("\n".join(_lines()) + "\n")
    return path


def _plain(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_from_records_to_a_model(
    run: Callable[..., Any], checkpoint: Path, trials: Path, tmp_path: Path
) -> None:
    out, plot = tmp_path / "My Trial2Vec", tmp_path / "loss.png"
    options = ("--small", "--steps", "5", "--batch", "8", "--seed", "5", "--plot", plot, "--json")
    result = run("--trials", trials, "--checkpoint", checkpoint, "--out", out, *options)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["model"], said["steps"], said["seed"]) == ("my-trial2vec", 5, 5)
    assert said["trials"] + said["dev_trials"] + said["held_out"] == 40
    assert (said["folder"], said["rejected"], said["without_text"]) == (str(out), 0, 0)
    assert said["recipe"]["warmup_steps"] == 1  # a fifth of the steps, as in the recipe
    assert any(loss > 0 for loss in said["loss_texts"])  # the dictionary knows the trials' diseases
    assert plot.read_bytes().startswith(b"\x89PNG")
    encoder = load_encoder(str(out))
    found = encoder.encode_documents([{"title": "aspirin", "condition": "heart disease"}])
    assert found.shape == (1, 32)
    again = run("--trials", trials, "--checkpoint", checkpoint, "--out", out, *options)
    assert again.exit_code == 2
    assert "there is a model in" in _plain(again.output)


def test_in_int8(
    run: Callable[..., Any],
    checkpoint: Path,
    trials: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 32 random numbers more is lost by rounding than a model that serves may lose."""
    from trifuse.encoder.training.trial2vec import export

    monkeypatch.setattr(export, "LEAST_ROUNDED", 0.9)
    options = ("--small", "--steps", "2", "--batch", "8", "--int8")
    result = run("--trials", trials, "--checkpoint", checkpoint, "--out", tmp_path / "model", *options)
    assert result.exit_code == 0, result.output
    assert "(mean cosine of a trial's vectors in int8 and in float32)" in _plain(result.output)
    assert load_encoder(str(tmp_path / "model")).space.precision == "int8"


def test_a_record_that_cant_be_read_is_told_and_ends_the_command_badly(
    run: Callable[..., Any], checkpoint: Path, tmp_path: Path
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join([*_lines(), '{"brief_title": "a trial without an id"}']) + "\n")
    options = ("--small", "--steps", "2", "--batch", "4", "--held-out", "none", "--local-weight", "0")
    result = run("--trials", path, "--checkpoint", checkpoint, "--out", tmp_path / "model", *options)
    assert result.exit_code == 1
    assert "the model is there, but 1 records weren't learned from" in _plain(result.output)
    assert "40 learned from, 0 for the dev score, 0 held out" in _plain(result.output)
    assert load_encoder(str(tmp_path / "model")).space.encoder == "model"


def test_an_empty_file_holds_no_trials(run: Callable[..., Any], checkpoint: Path, tmp_path: Path) -> None:
    from trifuse.encoder.errors import TrainingInvalid

    (tmp_path / "empty.jsonl").write_text("")
    result = run(
        "--trials", tmp_path / "empty.jsonl", "--checkpoint", checkpoint, "--out", tmp_path / "model"
    )
    assert isinstance(result.exception, TrainingInvalid)
    assert "0 trials to train on" in str(result.exception)


def test_where_the_trials_have_gone_is_said(
    run: Callable[..., Any], checkpoint: Path, tmp_path: Path
) -> None:
    """NCT00000000 to NCT00000004 are of the tenths 7, 7, 9, 1 and 9 (sha256)."""
    from trifuse.encoder.errors import TrainingInvalid

    path = tmp_path / "some.jsonl"
    path.write_text("\n".join([*_lines(5), '{"brief_title": "a trial without an id"}']) + "\n")
    result = run("--trials", path, "--checkpoint", checkpoint, "--out", tmp_path / "model", "--small")
    assert isinstance(result.exception, TrainingInvalid)
    assert "1 trials to train on, and batch=96: 2 are for the dev score, 2 held out, 1 rejected" in str(
        result.exception
    )
    assert "some.jsonl:6 (no id)" in _plain(result.output)


def test_a_run_that_was_ended_after_its_model_was_there_can_be_finished(
    run: Callable[..., Any], checkpoint: Path, trials: Path, tmp_path: Path
) -> None:
    out = tmp_path / "model"
    command = ("--trials", trials, "--checkpoint", checkpoint, "--out", out, "--small", "--batch", "8")
    assert run(*command, "--steps", "2").exit_code == 0
    (out / "training.json").unlink()
    (out / "state").mkdir()
    (out / ".new-killed").mkdir()
    assert run(*command, "--steps", "2").exit_code == 2
    assert run(*command, "--steps", "2", "--resume").exit_code == 0
    assert (out / "training.json").exists()
    assert not (out / "state").exists()
    assert not (out / ".new-killed").exists()


@pytest.mark.parametrize("tenths", ["", "10", "7;8", "all"])
def test_tenths_that_there_arent(run: Callable[..., Any], trials: Path, tmp_path: Path, tenths: str) -> None:
    result = run("--trials", trials, "--out", tmp_path / "model", "--held-out", tenths)
    assert result.exit_code == 2
    assert "expected digits with commas between" in _plain(result.output)


def test_what_is_wrong_usage(run: Callable[..., Any], trials: Path, tmp_path: Path) -> None:
    nowhere = run("--trials", tmp_path / "nowhere", "--out", tmp_path / "model")
    assert nowhere.exit_code == 2
    assert run("--out", tmp_path / "model").exit_code == 2
    for name in ("../up", "A name", ""):
        assert run("--trials", trials, "--out", tmp_path / "model", "--name", name).exit_code == 2
    (tmp_path / "begun" / "state").mkdir(parents=True)
    begun = run("--trials", trials, "--out", tmp_path / "begun")
    assert begun.exit_code == 2
    assert "go on with --resume" in _plain(begun.output)


def test_help_has_an_example(run: Callable[..., Any]) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "trifuse train trial2vec --trials studies.json" in _plain(result.output)


def test_trials_are_parted_by_their_ids_and_each_taken_once() -> None:
    """NCT00000102 is of tenth 9; NCT00000001 to NCT00000010 as sha256 says: see `tenth_of`."""
    from trifuse.deploy.cli.training_trials import training_trials
    from trifuse.deploy.tenths import tenth_of

    ids = [f"NCT{number:08d}" for number in range(1, 60)]
    trials = [Trial(nct_id=each, brief_title=each, condition_mesh=("Asthma",)) for each in ids]
    items = [Record(trial, "x") for trial in trials] + [Rejection("x", 7, None, "no trial")]
    items += [Record(Trial(nct_id=ids[0], brief_title="again"), "x")]
    read: list[int] = []
    found = training_trials(items, (7, 8, 9), read.append)
    by = {tenth: [each for each in ids if tenth_of(each) == tenth] for tenth in range(10)}
    assert [each.id for each in found.dev] == by[7]
    assert [each.id for each in found.learned] == [each for each in ids if tenth_of(each) < 7]
    assert found.held_out == len(by[8]) + len(by[9])
    assert len(found.named) == len(found.learned)
    assert [each.reason for each in found.rejected] == ["no trial"]
    assert read[-1] == 61
    assert all(each.parts == {"title": each.id} for each in found.learned)  # no MeSH, and the first of two
    everything = training_trials(items, ())
    assert (len(everything.learned), everything.dev, everything.held_out) == (59, [], 0)
