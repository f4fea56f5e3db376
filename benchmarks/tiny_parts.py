"""A model of named parts of a few kB, made on the spot: for benchmarks, and for tests that work out numbers.

A part's vector is the mean of its tokens' rows. A document's is the sum of its parts' vectors, the first
once, the second twice, and so on: which text is in which part matters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tiny_model import write_model

PARTS: tuple[Mapping[str, Any], ...] = (
    {"name": "title", "max_tokens": 8},
    {"name": "intervention", "max_tokens": 8},
    {"name": "condition", "max_tokens": 8},
    {"name": "outcome", "max_tokens": 8},
    {"name": "context", "max_tokens": 16, "context": True},
)
MAX_POSITIONS = 1024


def make_parts_model(
    folder: Path,
    words: Mapping[str, Sequence[float]],
    *,
    parts: Sequence[Mapping[str, Any]] = PARTS,
    positions: bool = False,
    counted: int | None = None,
    integers: int = TensorProto.INT64,
    **description: Any,
) -> Path:
    """Write a model's folder.

    Args:
        folder: made if it isn't there.
        words: each word's row; the special tokens that aren't in it have rows of zeros.
        parts: as `trifuse.json` has them.
        positions: add a token's position in its part to every number of its row.
        counted: parts in the graph, where these are others than `parts` says.
        integers: the type of the inputs.
        description: keys of `trifuse.json` that differ from a plain fp32 model.
    """
    described = {"name": "tiny-parts", "parts": list(parts)} | description
    return write_model(
        folder, words, lambda rows: _graph(rows, counted or len(parts), positions, integers), described
    )


def _graph(rows: NDArray[np.float32], count: int, positions: bool, integers: int) -> onnx.ModelProto:
    step = np.arange(MAX_POSITIONS, dtype=np.float32)[:, None] * float(positions)
    constants = {
        "embeddings": rows,
        "steps": np.repeat(step, rows.shape[1], axis=1),
        "numbers": np.arange(1, count + 1, dtype=np.int64),
        "weights": np.arange(1, count + 1, dtype=np.float32)[:, None],
        "one": np.float32(1),
        "first": np.array([1], dtype=np.int64),
        "last": np.array([2], dtype=np.int64),
    }
    nodes = [
        helper.make_node("Gather", ["embeddings", "input_ids"], ["words"]),
        helper.make_node("Gather", ["steps", "position_ids"], ["places"]),
        helper.make_node("Add", ["words", "places"], ["tokens"]),
        helper.make_node("Cast", ["part_ids"], ["part"], to=TensorProto.INT64),
        helper.make_node("Unsqueeze", ["part", "last"], ["each"]),
        helper.make_node("Equal", ["each", "numbers"], ["is_of"]),
        helper.make_node("Cast", ["is_of"], ["of"], to=TensorProto.FLOAT),
        helper.make_node("Transpose", ["of"], ["turned"], perm=[0, 2, 1]),
        helper.make_node("MatMul", ["turned", "tokens"], ["sums"]),
        helper.make_node("ReduceSum", ["turned", "last"], ["found"], keepdims=1),
        helper.make_node("Max", ["found", "one"], ["lengths"]),
        helper.make_node("Div", ["sums", "lengths"], ["local"]),
        helper.make_node("Mul", ["local", "weights"], ["weighted"]),
        helper.make_node("ReduceSum", ["weighted", "first"], ["global"], keepdims=0),
    ]
    shape = ["rows", "length"]
    graph = helper.make_graph(
        nodes,
        "tiny-parts",
        [
            helper.make_tensor_value_info(n, integers, shape)
            for n in ("input_ids", "position_ids", "part_ids")
        ],
        [
            helper.make_tensor_value_info("global", TensorProto.FLOAT, ["rows", rows.shape[1]]),
            helper.make_tensor_value_info("local", TensorProto.FLOAT, ["rows", count, rows.shape[1]]),
        ],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model
