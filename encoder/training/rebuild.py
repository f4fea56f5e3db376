"""A BERT back from its ONNX graph, so that a model that trifuse ships can be trained further.

The graph's initialisers keep the checkpoint's names; the weights of its matrix products are anonymous and
transposed, but each node's name holds the path: `/encoder/layer.0/attention/self/query/MatMul`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from transformers import BertConfig, BertModel

from trifuse.encoder.errors import CheckpointInvalid

Array = NDArray[Any]

_BUFFERS = ("embeddings.position_ids", "embeddings.token_type_ids")


def rebuild_bert(path: Path) -> BertModel:
    """The checkpoint that an ONNX graph was exported from, without a pooler, in float32.

    Raises:
        CheckpointInvalid: the graph isn't a plain export of a BERT.
    """
    graph = onnx.load(str(path)).graph
    tensors = {item.name: numpy_helper.to_array(item) for item in graph.initializer}
    weights = {name: value for name, value in tensors.items() if name.startswith(("embeddings.", "encoder."))}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in tensors:
            name = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".") + ".weight"
            weights[name] = tensors[node.input[1]].T
    try:
        model = BertModel(_config(weights, graph), add_pooling_layer=False)
        model.load_state_dict(
            {name: torch.tensor(value) for name, value in weights.items() if name not in _BUFFERS},
            strict=True,
        )
    except (KeyError, RuntimeError, ValueError) as error:
        raise CheckpointInvalid(
            f"{path} is no plain export of a BERT, so that it can't be trained further ({error}): give a "
            "checkpoint's folder (--checkpoint)"
        ) from error
    return model


def _config(weights: Mapping[str, Array], graph: Any) -> BertConfig:
    vocabulary, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = {name.split(".")[2] for name in weights if name.startswith("encoder.layer.")}
    return BertConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=len(layers),
        num_attention_heads=hidden // _head_size(graph, hidden),
        intermediate_size=weights["encoder.layer.0.intermediate.dense.bias"].shape[0],
        max_position_embeddings=weights["embeddings.position_embeddings.weight"].shape[0],
        type_vocab_size=weights["embeddings.token_type_embeddings.weight"].shape[0],
    )


def _head_size(graph: Any, hidden: int) -> int:
    """The numbers a head has: heads and size stand side by side where the hidden vector is split."""
    sizes = [
        int(value.reshape(-1)[0])
        for node in graph.node
        if node.op_type == "Constant" and node.name.startswith("/encoder/layer.0/attention/self/")
        for value in [numpy_helper.to_array(node.attribute[0].t)]
        if value.size == 1 and np.issubdtype(value.dtype, np.integer)
    ]
    for heads, size in pairwise(sizes):
        if heads * size == hidden:
            return size
    raise ValueError("its attention is not split into heads")
