"""Models by name and by folder; named ones are described without a download."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from trifuse.encoder import DEFAULT_ENCODER, describe_encoder, load_encoder
from trifuse.encoder.description import read_model
from trifuse.encoder.errors import DownloadFailed, ModelInvalid, ModelNotFound
from trifuse.encoder.models import SHIPPED, bge_small_fp32, trial2vec_small
from trifuse.encoder.patches import read_patch
from trifuse.encoder.registry import encoder_names

NAMES = ["bge-small-en-v1.5", "bge-small-en-v1.5-int8", "e5-small-v2", "e5-small-v2-int8"]


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and nothing to download from."""
    monkeypatch.setenv("TRIFUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "jgo.maven", None)
    return tmp_path


def test_names_come_from_entry_points() -> None:
    assert set(NAMES) <= set(encoder_names())
    assert DEFAULT_ENCODER == "bge-small-en-v1.5-int8"


def test_a_named_model_is_described_without_a_download(offline: Path) -> None:
    spaces = [describe_encoder(name) for name in NAMES]
    assert [space.encoder for space in spaces] == NAMES
    assert [space.pooling for space in spaces] == ["cls", "cls", "mean", "mean"]
    assert [space.precision for space in spaces] == ["fp32", "int8", "fp32", "int8"]
    assert {space.dimension for space in spaces} == {384}
    assert len({space.id for space in spaces}) == 4
    assert not (offline / "cache").exists()


def test_a_model_of_parts_is_described_by_name_without_a_download(offline: Path) -> None:
    space = describe_encoder("trial2vec-small")
    assert (space.encoder, space.dimension, space.precision, space.pooling) == (
        "trial2vec-small",
        384,
        "fp32",
        "cls",
    )
    assert space.parts == ("title", "intervention", "condition", "outcome", "context")
    assert not (offline / "cache").exists()


def test_the_shipped_trial2vec_is_the_one_whose_training_is_recorded() -> None:
    """Its patch is of bge-small's graph, and makes the graph that the report of the training names."""
    source, base = trial2vec_small(), bge_small_fp32()
    patch = read_patch(SHIPPED / "trial2vec-small.patch")
    report = json.loads((SHIPPED / "trial2vec-small.json").read_text())
    assert patch.base.sha256 == base.model.sha256
    assert source.base == base
    assert patch.target.sha256 == report["sha256"]
    assert (report["model"], report["checkpoint"]) == ("trial2vec-small", "bge-small-en-v1.5")
    assert report["parity"] >= 0.9999
    assert source.space == source.description.space(report["sha256"], base.tokenizer.sha256)
    recipe = report["recipe"]
    assert [part.max_tokens for part in source.description.parts] == [recipe["key_tokens"]] * 4 + [
        recipe["context_tokens"]
    ]
    assert (SHIPPED / "trial2vec-small.patch").stat().st_size < 8e6


def test_a_folder_is_described_and_loaded(tmp_path: Path, make_model: Callable[..., Path]) -> None:
    folder = make_model(tmp_path / "mine", {"a": (3.0, 4.0)}, normalized=True)
    encoder = load_encoder(str(folder))
    assert encoder.space == describe_encoder(str(folder))
    assert encoder.encode_queries(["a"]) == pytest.approx(np.array([[0.6, 0.8]]))


def test_neither_a_name_nor_a_folder() -> None:
    with pytest.raises(ModelNotFound, match=r"no model 'bge-tiny': .*one of .*bge-small-en-v1\.5-int8"):
        load_encoder("bge-tiny")


def test_a_third_partys_entry_point_may_give_a_folder(
    tmp_path: Path, make_model: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_model(tmp_path / "theirs", {"a": (3.0, 4.0)}, name="theirs")
    point = SimpleNamespace(name="theirs", value="theirs:model", load=lambda: lambda: folder)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [point, point])
    assert load_encoder("theirs").space.encoder == "theirs"


def test_a_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load() -> None:
        raise ImportError("No module named 'theirs'")

    point = SimpleNamespace(name="theirs", value="theirs:model", load=load)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: [point])
    with pytest.raises(ModelInvalid, match=r"'theirs' is registered as theirs:model.*No module named"):
        load_encoder("theirs")


def test_two_packages_with_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [SimpleNamespace(name="same", value=value) for value in ("one:model", "two:model")]
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_: points)
    with pytest.raises(ModelInvalid, match=r"several packages .* 'same': one:model, two:model"):
        describe_encoder("same")


def test_a_cached_model_that_was_changed_is_refused(offline: Path, make_model: Callable[..., Path]) -> None:
    space = describe_encoder("bge-small-en-v1.5")
    cached = offline / "cache" / "models" / f"{space.encoder}-{space.revision}"
    make_model(cached, {"a": (3.0, 4.0)}, name=space.encoder)
    with pytest.raises(
        ModelInvalid, match=r"isn't the model 'bge-small-en-v1\.5' any more.*delete the folder"
    ):
        load_encoder("bge-small-en-v1.5")


def test_without_jgo_the_remedy_is_named(offline: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"needs jgo.*pip install 'trifuse\[local\]'"):
        load_encoder("bge-small-en-v1.5")


def test_a_source_says_the_space_of_its_folder(tmp_path: Path, make_model: Callable[..., Path]) -> None:
    """The pinned hashes and the folder's files give one space, if they are the same files."""
    from trifuse.encoder.fetch import sha256_of

    folder = make_model(tmp_path / "m", {"a": (3.0, 4.0)})
    model = read_model(folder)
    hashes = (sha256_of(folder / "model.onnx"), sha256_of(folder / "tokenizer.json"))
    assert model.description.space(*hashes) == model.space
    source = bge_small_fp32()
    assert source.space == source.description.space(source.model.sha256, source.tokenizer.sha256)


def test_importing_the_encoder_starts_nothing() -> None:
    code = "import sys, trifuse.encoder; print({'onnxruntime', 'jgo', 'tokenizers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
