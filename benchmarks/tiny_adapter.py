"""A tiny model whose vectors an adapter turns, and its adapters: every number can be worked out by hand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tiny_model import write_model

from trifuse.encoder.adapter_files import (
    ADAPTER_FILE,
    AdapterDescription,
    AdapterGraph,
    AskedAspect,
    space_content,
)
from trifuse.encoder.description import MODEL_FILE, read_model
from trifuse.encoder.fetch import sha256_of
from trifuse.encoder.onnx import write_lora
from trifuse.encoder.patches import make_patch
from trifuse.encoder.spaces import EncoderSpace
from trifuse.encoder.training.aspects.graph import DOWN, UP, with_updates

MATRIX = "turn"
"""The only matrix: the identity, so that the model gives its words' rows as they are."""

Turn = tuple[Sequence[Sequence[float]], Sequence[Sequence[float]]]
"""(dim, rank) and (rank, dim): their product is added to the identity."""


def make_base(folder: Path, words: Mapping[str, Sequence[float]], **description: Any) -> Path:
    """Write a model's folder: the arguments are those of `tiny_model.make_model`."""
    return write_model(folder, words, _graph, description)


def make_adapter(
    folder: Path,
    base: Path,
    turns: Mapping[str, Turn],
    *,
    name: str = "tiny-aspects",
    instructions: Mapping[str, str] | None = None,
    space: EncoderSpace | None = None,
) -> Path:
    """Write an adapter's folder.

    Args:
        base: a folder that `make_base` wrote.
        turns: aspect to its updates, each in a file of its own.
        instructions: aspect to its wording; None: the text as it is.
        space: of the documents; None: the base's own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graph = with_updates(base / MODEL_FILE, [MATRIX])
    (folder / "fp32.patch").write_bytes(make_patch((base / MODEL_FILE).read_bytes(), graph))
    aspects, files = {}, {}
    for aspect, (down, up) in turns.items():
        file = f"{aspect}.onnx_adapter"
        write_lora({MATRIX + DOWN: np.array(down), MATRIX + UP: np.array(up)}, folder / file)
        aspects[aspect] = AskedAspect((instructions or {}).get(aspect, "{text}"), file)
        files[file] = sha256_of(folder / file)
    own = read_model(base).space
    described = AdapterDescription(
        name=name,
        space=space_content(space or own),
        graphs={"fp32": AdapterGraph(str(base), own.id, "fp32.patch", hashlib.sha256(graph).hexdigest())},
        aspects=aspects,
        files=files,
        rank=max(len(up) for _, up in turns.values()),
        alpha=1.0,
        seed=0,
        recipe={},
    )
    (folder / ADAPTER_FILE).write_bytes(msgspec.json.encode(described))
    return folder


def _graph(rows: NDArray[np.float32]) -> onnx.ModelProto:
    constants = {"embeddings": rows, "matrix": np.eye(rows.shape[1], dtype=np.float32)}
    shape = ["rows", "length"]
    graph = helper.make_graph(
        [
            helper.make_node("Gather", ["embeddings", "input_ids"], ["x"]),
            helper.make_node("MatMul", ["x", "matrix"], ["last_hidden_state"], f"/{MATRIX}/MatMul"),
        ],
        "tiny-adapted",
        [
            helper.make_tensor_value_info(name, TensorProto.INT64, shape)
            for name in ("input_ids", "attention_mask")
        ],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, rows.shape[1]])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    return model
