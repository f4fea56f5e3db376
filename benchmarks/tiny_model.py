"""Models of a few kB, made on the spot: for benchmarks, and for tests that work out every number by hand.

A text's words are looked up in a vocabulary; the graph gives each token its row of `embeddings`, moved by its
position and type where the graph takes those inputs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
MAX_POSITIONS = 1024


def make_model(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    *,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    integers: int = TensorProto.INT64,
    attention: bool = False,
    **description: Any,
) -> Path:
    """Write a model's folder.

    Args:
        folder: made if it isn't there.
        words: each word's row; the special tokens that aren't in it have rows of zeros.
        inputs: what the graph takes. `position_ids` adds the position, `token_type_ids` 1000 times the type,
            to every number of a token's vector.
        integers: the type of the inputs.
        attention: let every token look at the others, so that lengths and masks matter.
        description: keys of `trifuse.json` that differ from a plain fp32 mean model.
    """
    return write_model(folder, words, lambda rows: _graph(rows, inputs, integers, attention), description)


def write_model(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    graph: Callable[[NDArray[np.float32]], onnx.ModelProto],
    description: Mapping[str, Any],
) -> Path:
    """Write the folder of a model that begins with the rows of words.

    Args:
        graph: made of the rows, those of the special tokens first.
        description: keys of `trifuse.json` that differ from a plain fp32 mean model.
    """
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = [*SPECIAL, *(word for word in words if word not in SPECIAL)]
    dimension = len(next(iter(words.values())))
    rows = np.array([words.get(word, [0.0] * dimension) for word in vocabulary], dtype=np.float32)
    onnx.save(graph(rows), folder / "model.onnx")
    make_tokenizer(vocabulary).save(str(folder / "tokenizer.json"))
    described = {
        "name": "tiny",
        "precision": "fp32",
        "dimension": dimension,
        "pooling": "mean",
        "max_tokens": 16,
        "normalized": False,
        "similarity": "dot",
    }
    (folder / "trifuse.json").write_text(json.dumps(described | dict(description)))
    return folder


def make_tokenizer(vocabulary: Sequence[str]) -> Tokenizer:
    """A tokenizer of whole words, with [CLS] and [SEP] around them."""
    ids = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = Tokenizer(WordLevel(ids, unk_token="[UNK]"))  # noqa: S106
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])]
    )
    return tokenizer


def _graph(
    rows: NDArray[np.float32], inputs: Sequence[str], integers: int, attention: bool
) -> onnx.ModelProto:
    constants = {"embeddings": rows}
    nodes = [helper.make_node("Gather", ["embeddings", "input_ids"], ["x0"])]
    value = "x0"
    for name, step in (("position_ids", 1.0), ("token_type_ids", 1000.0)):
        if name in inputs:
            constants[f"{name}_rows"] = (
                np.full((MAX_POSITIONS, rows.shape[1]), step, dtype=np.float32)
                * np.arange(MAX_POSITIONS, dtype=np.float32)[:, None]
            )
            nodes += [
                helper.make_node("Gather", [f"{name}_rows", name], [f"{name}_x"]),
                helper.make_node("Add", [value, f"{name}_x"], [f"{name}_sum"]),
            ]
            value = f"{name}_sum"
    if attention:
        constants |= {"one": np.float32(1), "far": np.float32(-1e9), "axis": np.array([1], dtype=np.int64)}
        nodes += [
            helper.make_node("Transpose", [value], ["turned"], perm=[0, 2, 1]),
            helper.make_node("MatMul", [value, "turned"], ["scores"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Sub", ["mask", "one"], ["masked"]),
            helper.make_node("Abs", ["masked"], ["hidden"]),
            helper.make_node("Mul", ["hidden", "far"], ["penalty"]),
            helper.make_node("Unsqueeze", ["penalty", "axis"], ["penalties"]),
            helper.make_node("Add", ["scores", "penalties"], ["seen"]),
            helper.make_node("Softmax", ["seen"], ["weights"], axis=-1),
            helper.make_node("MatMul", ["weights", value], ["mixed"]),
        ]
        value = "mixed"
    nodes.append(helper.make_node("Identity", [value], ["last_hidden_state"]))
    shape = ["rows", "length"]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, integers, shape) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, rows.shape[1]])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model
