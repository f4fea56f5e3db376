"""`trifuse encoders`."""

from __future__ import annotations

import importlib.metadata
import json
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from typer.testing import CliRunner

from trifuse.deploy.cli import encoders
from trifuse.encoder.models import trial2vec_small

BUILDER = Path(__file__).parents[3] / "benchmarks" / "tiny_model.py"


@pytest.fixture
def run() -> Callable[..., tuple[int, str]]:
    app = typer.Typer()
    encoders.register(app)

    @app.callback()
    def _group() -> None: ...

    def invoke(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["encoders", *arguments])
        return result.exit_code, result.stdout

    return invoke


@pytest.fixture
def model(tmp_path: Path) -> Path:
    make_model = runpy.run_path(str(BUILDER))["make_model"]
    words = {"[CLS]": (3.0, 4.0), "pain": (1.0, 0.0)}
    return make_model(tmp_path / "tiny", words, pooling="cls", normalized=True)


def test_list_names_each_model_without_a_download(
    run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path))
    status, output = run("list", "--json")
    models = {model["name"]: model for model in json.loads(output)}
    assert status == 0
    assert models["bge-small-en-v1.5-int8"] == {
        "name": "bge-small-en-v1.5-int8",
        "dimension": 384,
        "pooling": "cls",
        "precision": "int8",
        "licence": "MIT",
        "parts": [],
        "cached": False,
        "default": True,
        "space": models["bge-small-en-v1.5-int8"]["space"],
    }
    trials = models["trial2vec-small"]
    assert (trials["cached"], trials["default"], trials["licence"]) == (False, False, "MIT")
    assert [part["name"] for part in trials["parts"]] == [
        "title",
        "intervention",
        "condition",
        "outcome",
        "context",
    ]
    assert list(tmp_path.iterdir()) == []


def test_list_shows_the_parts(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make_parts_model) -> None:
    folder = make_parts_model(tmp_path / "theirs", {"a": (3.0, 4.0)}, name="theirs")
    point = SimpleNamespace(name="theirs", value="theirs:model", load=lambda: lambda: folder)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [point])
    status, output = run("list", "--json")
    (model,) = json.loads(output)
    assert status == 0
    assert model["parts"][0] == {"name": "title", "max_tokens": 8, "context": False}
    assert [part["name"] for part in model["parts"] if part["context"]] == ["context"]
    shown = "theirs takes parts: title, intervention, condition, outcome, context (context)"
    assert shown in run("list")[1]


def test_a_damaged_model_is_named_and_the_others_are_listed(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch = tmp_path / "theirs.patch"
    patch.write_bytes(b"no zip")
    source = replace(trial2vec_small(), patch=patch)
    points = [
        SimpleNamespace(name="broken", value="theirs:broken", load=lambda: lambda: source),
        SimpleNamespace(name="tiny", value="theirs:tiny", load=lambda: lambda: model),
        SimpleNamespace(name="gone", value="theirs:gone", load=lambda: lambda: tmp_path / "gone"),
    ]
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda *, name=None, **_: [each for each in points if name in (None, each.name)],
    )
    app = typer.Typer()
    encoders.register(app)
    for options in ([], ["--json"]):
        result = CliRunner().invoke(app, ["encoders", "list", *options])
        assert result.exit_code == 1
        assert "tiny" in result.stdout
        assert "broken" not in result.stdout
        assert f"trifuse: the model 'broken' can't be used: the patch {patch}" in result.stderr
        assert "trifuse: the model 'gone' can't be used: " in result.stderr


def test_list_as_a_table(run) -> None:
    status, output = run("list")
    assert status == 0
    assert "bge-small-en-v1.5-int8 *" in output


def test_check_of_a_folder(run, model: Path) -> None:
    status, output = run("check", str(model), "--json")
    found = json.loads(output)
    assert status == 0
    assert found["provider"] == "cpu"
    assert found["dimension"] == 2
    assert found["norms"] == pytest.approx([1, 1])
    assert found["parity"] == 0
    assert found["truncated"] == [found["texts"] - 1]
    assert found["faults"] == []
    assert run("check", str(model))[0] == 0


def test_check_fails_where_the_description_does_not_hold(run, model: Path) -> None:
    """It says that it takes 4 tokens, so that texts of three words are cut too."""
    path = model / "trifuse.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"max_tokens": 4}))
    status, output = run("check", str(model), "--json")
    assert status == 1
    assert "were flagged as cut" in json.loads(output)["faults"][0]
