"""A model's folder, and the space that it makes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder.description import read_model
from trifuse.encoder.errors import ModelInvalid, ModelNotFound


@pytest.fixture
def folder(tmp_path: Path, make_model: Callable[..., Path]) -> Path:
    return make_model(tmp_path / "model", {"a": (1.0, 2.0)})


def _change(folder: Path, **keys: Any) -> None:
    path = folder / "trifuse.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))


def test_a_folder_is_read(folder: Path) -> None:
    model = read_model(folder)
    assert (model.description.name, model.space.dimension, model.space.pooling) == ("tiny", 2, "mean")


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"missing: give a folder with model\.onnx"):
        read_model(tmp_path / "missing")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "trifuse.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelInvalid, match=f"lacks {name}"):
        read_model(folder)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("pooling", "max", "'max'"),
        ("precision", "fp8", "'fp8'"),
        ("dimension", "384", r"\$\.dimension"),
        ("dimension", 0, ">= 1"),
        ("name", "Größe 1", r"\$\.name"),
        ("poling", "cls", "poling"),
    ],
)
def test_a_wrong_key_is_named(folder: Path, key: str, value: Any, message: str) -> None:
    _change(folder, **{key: value})
    with pytest.raises(ModelInvalid, match=rf"trifuse\.json does not .*{message}.*keys: name"):
        read_model(folder)


def test_a_description_that_is_no_json(folder: Path) -> None:
    (folder / "trifuse.json").write_text("name: tiny")
    with pytest.raises(ModelInvalid, match="does not describe a model"):
        read_model(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [("max_tokens", 8), ("document_prefix", "p: "), ("query_prefix", "q: "), ("pooling", "cls"),
     ("normalized", True), ("precision", "int8"), ("similarity", "cosine")],
)  # fmt: skip
def test_whatever_moves_vectors_moves_the_space(folder: Path, key: str, value: Any) -> None:
    before = read_model(folder).space.id
    _change(folder, **{key: value})
    assert read_model(folder).space.id != before


def test_the_files_move_the_space_and_the_licence_does_not(folder: Path, tmp_path: Path, make_model) -> None:
    before = read_model(folder).space
    _change(folder, licence="MIT")
    assert read_model(folder).space == before
    moved = shutil.copytree(folder, tmp_path / "elsewhere")
    assert read_model(moved).space == before
    assert read_model(make_model(tmp_path / "other", {"a": (1.0, 3.0)})).space.id != before.id
