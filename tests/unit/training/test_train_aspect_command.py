"""`trifuse train aspect`: from labelled tokens to an adapter that loads; usage."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import train
from trifuse.encoder.adapters import load_adapter
from trifuse.encoder.errors import LabelsInvalid, TrainingInvalid

pytestmark = pytest.mark.train

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_bert.py"
ORGANS = ("heart", "lung", "liver", "kidney", "brain", "skin", "bone", "blood")


@pytest.fixture
def run() -> Callable[..., Any]:
    app = typer.Typer()
    train.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str | Path) -> Any:
        return CliRunner().invoke(app, ["train", "aspect", *map(str, arguments)])

    return invoke


@pytest.fixture
def base(
    bert: Callable[..., Any], tokenizer_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    make: Callable[..., Path] = runpy.run_path(str(BUILDER))["make_bert"]
    return make(tmp_path / "base", bert(), tokenizer_file)


def _row(number: int, **more: Any) -> dict[str, Any]:
    """A title, a sentence on a treatment, one on a disease."""
    organ = ORGANS[number % 8]
    sentences = (
        ("a trial .", "N"),
        (f"aspirin treatment of the {organ} .", "I"),
        (f"{organ} disease .", "P"),
    )
    tokens = [(word, label) for text, label in sentences for word in text.split()]
    ends = [sum(len(text.split()) for text, _ in sentences[: last + 1]) for last in range(3)]
    words, labels = zip(*tokens, strict=True)
    return {"pmid": str(number), "tokens": words, "labels": labels, "sent_ends": ends, **more}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Twenty documents; two are for a test, one has no sentence after its title."""
    rows = [_row(number, split="test" if number < 2 else "") for number in range(20)]
    rows.append({"pmid": "20", "tokens": ["a", "trial"], "labels": ["N", "N"]})
    path = tmp_path / "tokens.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def _plain(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_from_labelled_tokens_to_an_adapter(
    run: Callable[..., Any], base: Path, data: Path, tmp_path: Path
) -> None:
    out = tmp_path / "My Aspects"
    options = ("--encoder", base, "--trained-layers", "1", "--epochs", "2", "--batch", "4", "--seed", "7")
    result = run("--data", data, "--out", out, *options, "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert (said["adapter"], said["seed"], said["folder"]) == ("my-aspects", 7, str(out))
    assert said["documents"] + said["dev_documents"] == 18
    assert (said["test_documents"], said["left_out"]) == (2, {"no sentence after the title": 1})
    assert said["recipe"]["epochs"] == 2
    # Of each document one sentence for either aspect, and no second one that lacks it.
    assert said["sizes"]["documents"] == said["documents"]
    assert said["sizes"]["sentences"] == said["sizes"]["requests"] == 2 * said["documents"]
    assert said["sizes"]["alone"] == dict.fromkeys(("population", "intervention"), said["documents"])
    assert said["sizes"]["examples"] == 0
    assert said["sizes"]["paper"] == {"train": 4187, "dev": 474, "test": 186, "examples": 18921}
    assert json.loads((out / "training.json").read_text())["sizes"] == said["sizes"]
    assert f"{said['documents']:,} to learn from" in result.stderr
    assert said["parity"] >= 0.9999
    assert load_adapter(str(out)).encode_queries(["a trial"], "population").shape == (1, 32)
    again = run("--data", data, "--out", out, *options)
    assert again.exit_code == 2
    assert "there is a model in" in _plain(again.output)


def test_an_adapter_for_each_aspect_and_what_is_said_of_it(
    run: Callable[..., Any], base: Path, data: Path, tmp_path: Path
) -> None:
    options = ("--encoder", base, "--trained-layers", "1", "--epochs", "1", "--per-aspect", "--name", "mine")
    result = run("--data", data, "--out", tmp_path / "aspects", *options)
    assert result.exit_code == 0, result.output
    text = _plain(result.output)
    assert f"mine for the space {load_adapter(str(tmp_path / 'aspects')).space.id}: 1 epochs" in text
    assert "asks for population (sha256" in text
    assert "asks for intervention (sha256" in text
    assert "2 kept for a test, 0 without a title" in text
    assert "2 for a test (the paper: 4,187, 474, 186)" in text
    # Of 18 documents to learn from the sha256 of one id is divisible by 10.
    assert "documents 17 to learn from, 1 for dev" in text
    assert "0 of 34 requests: a sentence that answers, and two that don't (the paper: 18,921)" in text
    assert "1 documents were left out: no sentence after the title" in text
    assert f"use it with --adapter {tmp_path / 'aspects'}" in text.replace("\n", "")


def test_what_is_no_labelled_document(run: Callable[..., Any], base: Path, tmp_path: Path) -> None:
    path = tmp_path / "tokens.jsonl"
    path.write_text('{"pmid": "1", "tokens": ["a"], "labels": []}\n')
    result = run("--data", path, "--encoder", base, "--out", tmp_path / "aspects")
    assert isinstance(result.exception, LabelsInvalid)
    path.write_text('{"pmid": "1", "tokens": ["a", "b"], "labels": ["N", "N"], "sent_ends": [1, 2]}\n')
    result = run("--data", path, "--encoder", base, "--out", tmp_path / "aspects")
    assert isinstance(result.exception, TrainingInvalid)
    assert "there is nothing to learn from" in str(result.exception)
    assert not (tmp_path / "aspects").exists()


def test_what_is_wrong_usage(run: Callable[..., Any], data: Path, tmp_path: Path) -> None:
    assert run("--data", tmp_path / "nowhere", "--out", tmp_path / "aspects").exit_code == 2
    assert run("--out", tmp_path / "aspects").exit_code == 2
    for name in ("../up", "A name", ""):
        assert run("--data", data, "--out", tmp_path / "aspects", "--name", name).exit_code == 2
    (tmp_path / "begun" / "state").mkdir(parents=True)
    begun = run("--data", data, "--out", tmp_path / "begun")
    assert begun.exit_code == 2
    assert "go on with --resume" in _plain(begun.output)


def test_help_has_an_example(run: Callable[..., Any]) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "trifuse train aspect --data pio_tokens.jsonl.gz" in _plain(result.output)


def test_documents_of_which_none_is_to_learn_from(
    run: Callable[..., Any], base: Path, tmp_path: Path
) -> None:
    path = tmp_path / "tokens.jsonl"
    rows = [_row(number, split="dev" if number < 2 else "test") for number in range(5)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    result = run("--data", path, "--out", tmp_path / "a", "--encoder", base)
    assert isinstance(result.exception, LabelsInvalid)
    assert "no document to learn from (2 for dev, 3 for a test): give data" in str(result.exception)
    assert not (tmp_path / "a").exists()


def test_a_document_that_two_files_label_for_an_aspect(
    run: Callable[..., Any], base: Path, data: Path, tmp_path: Path
) -> None:
    """Whether one of them keeps it for a test, the other would learn from it."""
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps(_row(1)) + "\n")
    for second in (other, data):
        result = run("--data", data, "--data", second, "--out", tmp_path / "a", "--encoder", base)
        assert isinstance(result.exception, LabelsInvalid)
        assert f"{second}: the document " in str(result.exception)
        assert f"by {data} too: leave one of the two out" in str(result.exception)


def test_ctrl_c_says_how_to_go_on(
    run: Callable[..., Any], base: Path, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same command alone is refused: it would begin anew."""

    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("trifuse.encoder.training.aspects.train.train_aspects", interrupted)
    result = run("--data", data, "--out", tmp_path / "a", "--encoder", base)
    assert result.exit_code == 130
    assert "the same command with --resume goes on" in _plain(result.output)
