"""`trifuse train lader`: usage, the extra that is missing, a tiny run from triples to a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import train
from trifuse.encoder import load_encoder
from trifuse.encoder.errors import TrainingMissing

pytestmark = pytest.mark.train


@pytest.fixture
def run() -> Callable[..., Any]:
    app = typer.Typer()
    train.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str | Path) -> Any:
        return CliRunner().invoke(app, ["train", "lader", *map(str, arguments)])

    return invoke


@pytest.fixture
def triples(tmp_path: Path) -> Path:
    path = tmp_path / "triples.tsv"
    pairs = [("heart", "lung"), ("lung", "skin"), ("skin", "heart")]
    path.write_text(
        "".join(
            f"{asked} trial\t{asked} disease <eot> the {asked}\t{other} disease <eot> the {other}\n"
            for asked, other in pairs
        )
    )
    return path


def test_from_triples_to_a_model(
    run: Callable[..., Any], checkpoint: Path, triples: Path, tmp_path: Path
) -> None:
    out, plot = tmp_path / "My LADER", tmp_path / "loss.png"
    options = ("--steps", "4", "--batch", "2", "--learning-rate", "1e-3", "--seed", "5", "--plot", plot)
    result = run("--triples", triples, "--checkpoint", checkpoint, "--out", out, *options, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["model"], said["steps"], said["seed"], said["folder"]) == ("my-lader", 4, 5, str(out))
    assert said["recipe"]["warmup_steps"] == 2  # half of the steps, as in the paper
    assert said["parity"] >= 0.9999
    assert {"loss_first", "loss_last", "accuracy_first", "accuracy_last", "seconds"} <= said.keys()
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert load_encoder(str(out)).encode_queries(["heart"]).shape == (1, 32)
    again = run("--triples", triples, "--checkpoint", checkpoint, "--out", out, *options)
    assert again.exit_code == 2
    assert "there is a model in" in again.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((), "give --triples, or all of"),
        (("--queries",), "give --triples, or all of"),
        (("--triples", "--qrels"), "not both"),
    ],
)
def test_half_of_what_is_needed(
    run: Callable[..., Any], triples: Path, tmp_path: Path, given: tuple[str, ...], said: str
) -> None:
    files = [argument for option in given for argument in (option, triples)]
    result = run(*files, "--out", tmp_path / "model")
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_run_that_was_begun_isnt_overwritten(
    run: Callable[..., Any], triples: Path, tmp_path: Path
) -> None:
    (tmp_path / "model" / "state").mkdir(parents=True)
    result = run("--triples", triples, "--out", tmp_path / "model")
    assert result.exit_code == 2
    assert "go on with --resume" in " ".join(result.output.replace("│", " ").split())


def test_without_the_extra_it_says_which(
    run: Callable[..., Any], triples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in [name for name in sys.modules if name.startswith("trifuse.encoder.training")]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run("--triples", triples, "--out", tmp_path / "model")
    assert isinstance(result.exception, TrainingMissing)
    assert "pip install 'trifuse[train]'" in str(result.exception)


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("lader", "lader"),
        ("My LADER (2)", "my-lader-2"),
        ("...", "lader"),
        ("é" * 80, "lader"),
        ("a" * 80, "a" * 64),
    ],
)
def test_a_folder_names_the_model(tmp_path: Path, folder: str, name: str) -> None:
    assert train.model_name(tmp_path / folder) == name
