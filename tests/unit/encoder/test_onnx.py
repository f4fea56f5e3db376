"""Graphs and tokenizers that can't be used are refused by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from trifuse.encoder.description import read_model
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.errors import EncodingFailed, ModelInvalid


@pytest.fixture
def folder(tmp_path: Path, make_model: Callable[..., Path]) -> Path:
    return make_model(tmp_path / "model", {"a": (4.0, 0.0), "b": (0.0, 8.0)})


def test_a_graph_that_is_no_onnx(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelInvalid, match=r"model\.onnx can't be loaded as an ONNX graph"):
        OnnxEncoder(read_model(folder))


def test_a_tokenizer_that_is_none(folder: Path) -> None:
    (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelInvalid, match=r"tokenizer\.json can't be read as a tokenizer"):
        OnnxEncoder(read_model(folder))


def test_a_graph_that_pools_itself(folder: Path) -> None:
    node = helper.make_node("Cast", ["input_ids"], ["sentence_embedding"], to=TensorProto.FLOAT)
    graph = helper.make_graph(
        [node],
        "pooled",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["rows", "length"])],
        [helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["rows", "length"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    with pytest.raises(ModelInvalid, match=r"'sentence_embedding' has shape .*without its pooling"):
        OnnxEncoder(read_model(folder))


def test_padding_and_truncation_baked_into_the_tokenizer_are_ours_to_set(folder: Path) -> None:
    """Baked in: everything padded to 9 tokens, and cut at 4 (two words); the description says 16."""
    path = str(folder / "tokenizer.json")
    tokenizer = Tokenizer.from_file(path)
    tokenizer.enable_padding(length=9)
    tokenizer.enable_truncation(max_length=4)
    tokenizer.save(path)
    result = OnnxEncoder(read_model(folder)).encode(["a a a b"], role="document")
    assert result.vectors[0] == pytest.approx([12 / 6, 8 / 6])
    assert result.truncated.tolist() == [False]


def test_a_text_that_the_tokenizer_strips_is_rejected_alone(folder: Path) -> None:
    """Without special tokens nothing is left of it: not one token."""
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text()) | {"post_processor": None}
    tokenizer["normalizer"] = {"type": "Replace", "pattern": {"String": "~"}, "content": ""}
    path.write_text(json.dumps(tokenizer))
    for pooling in ("mean", "cls"):
        _describe(folder, pooling=pooling)
        encoder = OnnxEncoder(read_model(folder))
        for texts in (["~", "a"], ["~"]):
            result = encoder.encode(texts, role="document")
            assert list(result.rejected) == [0]
            assert "all zeros" in result.rejected[0]


def test_more_tokens_than_the_graph_has_positions_for(folder: Path, make_model: Callable[..., Path]) -> None:
    """The graph has 1,024 positions; the description promises 2,000 tokens."""
    inputs = ("input_ids", "attention_mask", "position_ids")
    make_model(folder, {"a": (4.0, 0.0)}, inputs=inputs, max_tokens=2000)
    with pytest.raises(EncodingFailed, match=r"1 texts of 1502 tokens: .*may promise too many"):
        OnnxEncoder(read_model(folder)).encode_documents(["a " * 1500])


def _describe(folder: Path, **keys: Any) -> None:
    path = folder / "trifuse.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
