"""The base model's graph with inputs for updates of low rank, which onnxruntime's adapters fill."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trifuse.encoder.errors import TrainingInvalid

DOWN, UP = ".lora_A", ".lora_B"
"""What is put behind a matrix's name: x · W becomes x · W + (x · A) · B."""


def with_updates(source: Path, matrices: Collection[str]) -> bytes:
    """A graph that takes updates of some matrices; where none are given, it gives what it gave before.

    Args:
        source: a plain export of a BERT, whose nodes are named by the matrices' paths.
        matrices: `encoder.layer.0.attention.self.query` and the like.

    Raises:
        TrainingInvalid: the graph has no such matrices.
    """
    model = onnx.load(str(source))
    graph = model.graph
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    nodes: list[Any] = []
    missing = set(matrices)
    for node in graph.node:
        nodes.append(node)
        name = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
        if node.op_type == "MatMul" and name in missing and len(shapes.get(node.input[1], ())) == 2:
            missing.remove(name)
            _declare(graph, name, shapes[node.input[1]])
            nodes += _update(node, name)
    if missing:
        raise TrainingInvalid(
            f"{source} has no nodes of the matrices {', '.join(sorted(missing)[:3])}: it is no plain export "
            "of a BERT; give another base (--base)"
        )
    del graph.node[:]
    graph.node.extend(nodes)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _declare(graph: Any, name: str, shape: tuple[int, ...]) -> None:
    """Two inputs of any rank; by default it is 0, so that nothing is added."""
    width_in, width_out = shape
    inputs: tuple[tuple[str, tuple[int | str, ...]], ...] = (
        (name + DOWN, (width_in, "rank")),
        (name + UP, ("rank", width_out)),
    )
    for tensor, dims in inputs:
        default = np.zeros([0 if each == "rank" else int(each) for each in dims], dtype=np.float32)
        graph.input.append(helper.make_tensor_value_info(tensor, TensorProto.FLOAT, list(dims)))
        graph.initializer.append(numpy_helper.from_array(default, tensor))


def _update(node: Any, name: str) -> list[Any]:
    """The nodes behind a product; it gives its output's name to the sum."""
    output = node.output[0]
    node.output[0] = f"{name}.plain"
    return [
        helper.make_node("MatMul", [node.input[0], name + DOWN], [f"{name}.down"], f"{node.name}_A"),
        helper.make_node("MatMul", [f"{name}.down", name + UP], [f"{name}.up"], f"{node.name}_B"),
        helper.make_node("Add", [f"{name}.plain", f"{name}.up"], [output], f"{node.name}_Add"),
    ]
