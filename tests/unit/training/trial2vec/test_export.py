"""A trained model as one that serves: the graph's vectors are the model's, of any parts."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from trifuse.encoder.errors import ExportFailed
from trifuse.encoder.parts import Part

pytestmark = pytest.mark.train

PARTS = (
    Part(name="title", max_tokens=8),
    Part(name="condition", max_tokens=8),
    Part(name="context", max_tokens=16, context=True),
)
TRIAL = {
    "title": "aspirin treatment of the heart",
    "condition": "heart disease",
    "context": "the trial of a treatment of the heart of the liver of the kidney",
}
SUBSETS = list(chain.from_iterable(combinations(TRIAL, many) for many in range(1, 4)))


def _trained(bert: Callable[..., Any], dim: int | None = 128, *, seed: int = 0, **options: Any) -> Any:
    """A model whose attention isn't what training starts from."""
    import torch

    from trifuse.encoder.training.trial2vec.model import Trial2Vec

    model = Trial2Vec(bert(seed, num_hidden_layers=1), PARTS, dim, **options)
    torch.manual_seed(4)
    with torch.no_grad():
        for weight in model.head.parameters():
            weight += 0.2 * torch.randn_like(weight)
        model.head.centres.copy_(0.1 * torch.randn_like(model.head.centres))
    return model


def _export(model: Any, tokenizer: Path, folder: Path, **options: Any) -> float:
    from trifuse.encoder.training.trial2vec.export import describe, export_trial2vec

    return export_trial2vec(
        model, tokenizer, describe(model, "tiny-trials", licence="MIT"), folder, **options
    )


@pytest.fixture(scope="module")
def exported(
    bert: Callable[..., Any], tokenizer_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Any, Path]:
    """A model of the form that is trained, and its folder."""
    model, folder = _trained(bert), tmp_path_factory.mktemp("exported")
    assert _export(model, tokenizer_file, folder) >= 0.9999
    return model, folder


@pytest.mark.parametrize("printed", [True, False])
def test_it_serves_what_was_trained(
    printed: bool,
    exported: tuple[Any, Path],
    bert: Callable[..., Any],
    tokenizer_file: Path,
    tmp_path: Path,
) -> None:
    import torch

    from trifuse.encoder import load_encoder
    from trifuse.encoder.training.trial2vec.attention import PAPER
    from trifuse.encoder.training.trial2vec.packing import Packer

    model, folder = exported
    if printed:
        model, folder = _trained(bert, None, pooling="mean", form=PAPER), tmp_path / "model"
        assert _export(model, tokenizer_file, folder, trials=[TRIAL]) >= 0.9999
    assert {path.name for path in folder.iterdir()} == {"model.onnx", "tokenizer.json", "trifuse.json"}
    said = json.loads((folder / "trifuse.json").read_text())
    assert (said["name"], said["dimension"]) == ("tiny-trials", 32 if printed else 128)
    assert (said["precision"], said["pooling"]) == ("fp32", "mean" if printed else "cls")
    assert (said["max_tokens"], said["normalized"], said["licence"]) == (16, True, "MIT")
    assert [(part["name"], part["max_tokens"], part["context"]) for part in said["parts"]] == [
        ("title", 8, False),
        ("condition", 8, False),
        ("context", 16, True),
    ]
    encoder: Any = load_encoder(str(folder))
    trials = [{name: TRIAL[name] for name in subset} for subset in SUBSETS]
    together = encoder.encode_parts(trials)
    with torch.no_grad():
        for row, trial in enumerate(trials):  # each alone in torch, all in one batch in the graph
            global_, local = model(*Packer(tokenizer_file, PARTS).tensors([trial]))
            np.testing.assert_allclose(together.global_[row], global_[0], atol=1e-5)
            np.testing.assert_allclose(together.local[row], local[0], atol=1e-5)
    assert model.backbone.config._attn_implementation == "sdpa"


def test_the_graph_tells_nothing_of_the_machine(exported: tuple[Any, Path]) -> None:
    """torch notes at each node the files and lines that it came from: elsewhere it would be another file."""
    assert b'.py", line' not in (exported[1] / "model.onnx").read_bytes()


def test_a_text_of_ten_thousand_words(exported: tuple[Any, Path]) -> None:
    """What is over a part's limit is cut, and takes nothing of the other parts."""
    from trifuse.encoder import load_encoder

    encoder: Any = load_encoder(str(exported[1]))
    words = ["treatment", "of", "the", "heart"] * 2500
    long = {"condition": "heart disease", "context": " ".join(words)}
    cut = {"condition": "heart disease", "context": " ".join(words[:14])}  # and [CLS], [SEP]
    found = encoder.encode_parts([long, cut])
    np.testing.assert_allclose(found.global_[0], found.global_[1], atol=1e-6)
    assert found.truncated.tolist() == [[False, False, True], [False, False, False]]


def test_a_graph_that_is_off_is_not_put_in_the_folder(
    exported: tuple[Any, Path],
    bert: Callable[..., Any],
    tokenizer_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fault is a graph of another model's."""
    from trifuse.encoder.training.trial2vec import export

    def another(_: Any, path: Path, **__: Any) -> None:
        shutil.copyfile(exported[1] / "model.onnx", path)

    monkeypatch.setattr(export, "write_graph", another)
    with pytest.raises(ExportFailed, match=r"cosine -?0\.\d+, expected 0\.9999"):
        _export(_trained(bert, seed=3), tokenizer_file, tmp_path / "model")
    assert list((tmp_path / "model").iterdir()) == []


def test_in_int8_it_is_another_model_of_nearly_the_same_vectors(
    exported: tuple[Any, Path], tmp_path: Path
) -> None:
    from trifuse.encoder import load_encoder
    from trifuse.encoder.training.trial2vec.export import quantize_trial2vec

    cosine = quantize_trial2vec(exported[1], tmp_path / "int8", name="tiny-int8", trials=[TRIAL])
    before: Any = load_encoder(str(exported[1]))
    after: Any = load_encoder(str(tmp_path / "int8"))
    assert (after.space.encoder, after.space.precision) == ("tiny-int8", "int8")
    trials = [{name: TRIAL[name] for name in subset} for subset in SUBSETS]
    own, rounded = before.encode_parts(trials), after.encode_parts(trials)
    assert 0.98 <= cosine < 1
    assert ((own.global_ * rounded.global_).sum(axis=1) > 0.95).all()
    np.testing.assert_array_equal(own.present, rounded.present)
    kinds = {node.op_type for node in onnx.load(tmp_path / "int8" / "model.onnx").graph.node}
    assert {"MatMulInteger", "DynamicQuantizeLinear"} <= kinds


def test_an_int8_model_that_is_off_is_not_put_in_the_folder(
    exported: tuple[Any, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault is an attention whose output is turned round."""
    from trifuse.encoder.training.trial2vec import export

    def turned(source: Path, target: Path, *, kept: Any) -> None:
        assert kept  # the attention's nodes were found
        model = onnx.load(source)
        (output,) = (each for each in model.graph.initializer if each.name.endswith("head.output.weight"))
        output.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(output), output.name))
        onnx.save(model, target)

    monkeypatch.setattr(export, "quantize_graph", turned)
    with pytest.raises(ExportFailed, match=r"mean cosine -1\.0000, expected 0\.98"):
        export.quantize_trial2vec(exported[1], tmp_path / "int8", name="tiny-int8", trials=[TRIAL])
    assert list((tmp_path / "int8").iterdir()) == []
