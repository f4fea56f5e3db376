"""The base model's graph with inputs for updates of low rank, which onnxruntime's adapters fill."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trifuse.encoder.errors import TrainingInvalid

DOWN, UP = ".lora_A", ".lora_B"
"""What is put behind a matrix's name: x · W becomes x · W + (x · A) · B."""

_ENDINGS = {"MatMul": "/MatMul", "MatMulInteger": "/MatMul_quant"}
"""What is put behind a matrix's path in the name of the node that multiplies by it."""


class _Product(NamedTuple):
    """x · W in a graph: the names of x and of the product, and the shape of W."""

    factor: str
    output: str
    shape: tuple[int, int]


def with_updates(source: Path, matrices: Collection[str]) -> bytes:
    """A graph that takes updates of some matrices; where none are given, it gives what it gave before.

    Args:
        source: a plain export of a BERT, whose nodes are named by the matrices' paths; in fp32, or rounded by
            onnxruntime.
        matrices: `encoder.layer.0.attention.self.query` and the like.

    Raises:
        TrainingInvalid: the graph has no such matrices.
    """
    model = onnx.load(str(source))
    graph = model.graph
    products = _products(graph)
    missing = sorted(set(matrices) - set(products))
    if missing:
        raise TrainingInvalid(
            f"{source} has no nodes of the matrices {', '.join(missing[:3])}: it is no plain export of a "
            "BERT; give another base (--base)"
        )
    updated = {products[name].output: name for name in matrices}
    nodes: list[Any] = []
    for node in graph.node:
        nodes.append(node)
        name = updated.get(node.output[0])
        if name is not None:
            _declare(graph, name, products[name].shape)
            nodes += _update(node, name, products[name])
    del graph.node[:]
    graph.node.extend(nodes)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _products(graph: Any) -> dict[str, _Product]:
    """The products with matrices that are constant, by the matrices' names."""
    shapes = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    makes = {output: node for node in graph.node for output in node.output}
    takes = {given: node for node in graph.node for given in node.input}
    found = {}
    for node in graph.node:
        ending = _ENDINGS.get(node.op_type)
        if ending is None or len(shapes.get(node.input[1], ())) != 2:
            continue
        name = node.name.removeprefix("/").removesuffix(ending).replace("/", ".")
        factor, output = node.input[0], node.output[0]
        if node.op_type == "MatMulInteger":  # of x rounded; cast and scaled it is the product
            factor = makes[factor].input[0]
            output = takes[takes[output].output[0]].output[0]
        found[name] = _Product(factor, output, shapes[node.input[1]])
    return found


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


def _update(node: Any, name: str, product: _Product) -> list[Any]:
    """The nodes behind a product; it gives its output's name to the sum."""
    node.output[0] = f"{name}.plain"
    return [
        helper.make_node("MatMul", [product.factor, name + DOWN], [f"{name}.down"], f"{name}.A"),
        helper.make_node("MatMul", [f"{name}.down", name + UP], [f"{name}.up"], f"{name}.B"),
        helper.make_node("Add", [f"{name}.plain", f"{name}.up"], [product.output], f"{name}.sum"),
    ]
