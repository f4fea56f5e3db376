"""A BERT of a few thousand weights as a model's folder, whose graph is like those of the models that trifuse
ships: named nodes, anonymous transposed matrices. Training can start from it, and adapters be made for it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def make_bert(folder: Path, bert: Any, tokenizer: Path, **description: Any) -> Path:
    """Write a model's folder.

    Args:
        folder: made if it isn't there.
        bert: a `transformers.BertModel` without a pooler.
        tokenizer: a `tokenizer.json`.
        description: keys of `trifuse.json` that differ from a plain fp32 model that pools by the first token.
    """
    folder.mkdir(parents=True, exist_ok=True)
    graph = _Graph(bert)
    model = helper.make_model(graph.finished(), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, folder / "model.onnx")
    shutil.copyfile(tokenizer, folder / "tokenizer.json")
    described = {
        "name": "tiny-bert",
        "precision": "fp32",
        "dimension": bert.config.hidden_size,
        "pooling": "cls",
        "max_tokens": bert.config.max_position_embeddings,
    }
    (folder / "trifuse.json").write_text(json.dumps(described | description))
    return folder


class _Graph:
    """The nodes of a BERT, one after another; each method gives the name of what it adds."""

    def __init__(self, bert: Any) -> None:
        self._weights = {name: value.detach().numpy() for name, value in bert.state_dict().items()}
        self._config = bert.config
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def finished(self) -> onnx.GraphProto:
        """The whole graph."""
        hidden = self._embeddings()
        far = self._add("Sub", self._add("Cast", "attention_mask", to=TensorProto.FLOAT), self._number(1.0))
        far = self._add("Mul", far, self._number(1e9))
        far = self._add("Unsqueeze", far, self._integers(1, 2))
        for number in range(self._config.num_hidden_layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, far)
        self._nodes.append(helper.make_node("Identity", [hidden], ["last_hidden_state"]))
        shape = ["rows", "length"]
        kept = {name: value for name, value in self._weights.items() if not name.endswith("_ids")}
        constants = {name: value for name, value in kept.items() if value.ndim == 1 or "embeddings" in name}
        return helper.make_graph(
            self._nodes,
            "tiny-bert",
            [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in INPUTS],
            [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*shape, "width"])],
            [
                numpy_helper.from_array(np.ascontiguousarray(value), name)
                for name, value in (constants | self._constants).items()
            ],
        )

    def _embeddings(self) -> str:
        ones = self._add("Equal", "input_ids", "input_ids")
        counted = self._add("CumSum", self._add("Cast", ones, to=TensorProto.INT64), self._integers(1))
        places = self._add("Sub", counted, self._integers(1))
        words, positions, types = (
            self._add("Gather", f"embeddings.{name}_embeddings.weight", ids)
            for name, ids in (
                ("word", "input_ids"),
                ("position", places),
                ("token_type", "token_type_ids"),
            )
        )
        return self._norm("embeddings", self._add("Add", self._add("Add", words, types), positions))

    def _layer(self, name: str, hidden: str, far: str) -> str:
        own = f"{name}.attention.self"
        heads, size = self._heads(own)
        shape = self._add("Concat", self._integers(0, 0), heads, size, axis=0)
        query, key, value = (
            self._add(
                "Transpose", self._add("Reshape", self._linear(f"{own}.{each}", hidden), shape), perm=perm
            )
            for each, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3]))
        )
        width = self._config.hidden_size // self._config.num_attention_heads
        scores = self._add("Mul", self._add("MatMul", query, key), self._number(width**-0.5))
        shares = self._add("Softmax", self._add("Add", scores, far), axis=-1)
        mixed = self._add("Transpose", self._add("MatMul", shares, value), perm=[0, 2, 1, 3])
        mixed = self._add("Reshape", mixed, self._integers(0, 0, self._config.hidden_size))
        attended = self._linear(f"{name}.attention.output.dense", mixed)
        attended = self._norm(f"{name}.attention.output", self._add("Add", attended, hidden))
        inner = self._linear(f"{name}.intermediate.dense", attended)
        bent = self._add("Erf", self._add("Mul", inner, self._number(0.5**0.5)))
        bent = self._add("Mul", self._add("Add", bent, self._number(1.0)), self._number(0.5))
        inner = self._linear(f"{name}.output.dense", self._add("Mul", inner, bent))
        return self._norm(f"{name}.output", self._add("Add", inner, attended))

    def _heads(self, own: str) -> tuple[str, str]:
        """Two constants beside each other, as torch writes them."""
        heads = self._config.num_attention_heads
        found = []
        for number, value in enumerate((heads, self._config.hidden_size // heads)):
            output = f"{own}.constant{number}"
            tensor = numpy_helper.from_array(np.array([value], dtype=np.int64))
            path = f"/{own.replace('.', '/').replace('layer/', 'layer.')}/Constant_{number}"
            self._nodes.append(helper.make_node("Constant", [], [output], path, value=tensor))
            found.append(output)
        return found[0], found[1]

    def _linear(self, name: str, hidden: str) -> str:
        matrix = self._constant(self._weights[f"{name}.weight"].T)
        output = f"{name}.product"
        path = name.replace(".", "/").replace("layer/", "layer.")
        self._nodes.append(helper.make_node("MatMul", [hidden, matrix], [output], f"/{path}/MatMul"))
        return self._add("Add", output, f"{name}.bias")

    def _norm(self, name: str, hidden: str) -> str:
        names = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias")
        return self._add("LayerNormalization", hidden, *names, epsilon=self._config.layer_norm_eps, axis=-1)

    def _add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"x{len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _constant(self, value: Any) -> str:
        name = f"onnx::{len(self._constants)}"
        self._constants[name] = value
        return name

    def _number(self, value: float) -> str:
        return self._constant(np.float32(value))

    def _integers(self, *values: int) -> str:
        return self._constant(np.array(values, dtype=np.int64))
