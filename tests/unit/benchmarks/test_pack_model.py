"""A trained model as a patch of what it was trained from."""

from __future__ import annotations

import json
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pack_model
import pytest
from tiny_model import make_model

from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.models import SHIPPED
from trifuse.encoder.patches import apply_patch

WORDS = {f"word{number}": (float(number), 1.0) for number in range(200)}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return make_model(tmp_path / "base", WORDS)


@pytest.fixture
def pack(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    def run(model: Path) -> int:
        out = ["--base", str(base), "--out", str(tmp_path / "shipped" / "mine.patch")]
        monkeypatch.setattr(sys, "argv", ["pack_model.py", str(model), *out])
        return pack_model.main()

    return run


def test_a_model_is_packed_and_comes_back(
    pack: Callable[..., int], base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = make_model(tmp_path / "model", WORDS | {"word7": (-1.0, 0.0)}, name="mine")
    (model / "training.json").write_text('{"seed": 0}')
    assert pack(model) == 0
    said = json.loads(capsys.readouterr().out)
    assert sorted(path.name for path in (tmp_path / "shipped").iterdir()) == ["mine.json", "mine.patch"]
    assert (tmp_path / "shipped" / "mine.json").read_text() == '{"seed": 0}'
    apply_patch(tmp_path / "shipped" / "mine.patch", base / "model.onnx", tmp_path / "model.onnx")
    assert sha256_of(tmp_path / "model.onnx") == sha256_of(model / "model.onnx") == said["sha256"]
    assert said["bytes"] == (tmp_path / "shipped" / "mine.patch").stat().st_size


def test_another_tokenizer_is_refused(
    pack: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pack(make_model(tmp_path / "model", {"other": (1.0, 2.0)})) == 1
    assert "has another tokenizer.json than" in capsys.readouterr().err
    assert not (tmp_path / "shipped").exists()


def test_a_name_that_is_registered_otherwise_is_refused(
    pack: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pack(make_model(tmp_path / "model", WORDS, name="trial2vec-small")) == 1
    assert "'trial2vec-small' is registered as" in capsys.readouterr().err


def test_no_machine_is_named_in_what_is_shipped() -> None:
    """The graph's own bytes: torch would note there from which file each node came."""
    patches = list(SHIPPED.rglob("*.patch"))
    assert patches
    for path in patches:
        with zipfile.ZipFile(path) as archive:
            assert b'.py", line' not in archive.read("literals"), path
