"""Make `canonical_vectors.json`: what sentence-transformers on torch gives for a few texts. Run once by hand:

    python tests/data/make_canonical_vectors.py NAME=FOLDER... > tests/data/canonical_vectors.json

in the environment of the benchmarks' peers (requirements/bench.txt), with model folders from trifuse's cache.
The models come as ONNX only, so each is rebuilt as a torch checkpoint first: the graph's initialisers keep
their names, those of the MatMuls are anonymous, but their nodes' names carry the path.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from sentence_transformers import SentenceTransformer, models
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

TEXTS = {
    "short": "Aspirin for headache",
    "sentence": "Adults with moderate asthma got either inhaled budesonide or a placebo for twelve weeks.",
    "odd": "β-blocker (≥ 50 mg/day) vs. ‘usual care’ — naïve patients, n=37; p<0.05",
    "longer than the model takes": "The lighthouse keeper counted waves and wrote their number down. " * 60,
}


def rebuild(graph: Path) -> BertModel:
    """The torch model of a BERT that was exported to ONNX without its pooler."""
    model = onnx.load(graph)
    constants = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    weights = {name: value for name, value in constants.items() if not name.startswith("onnx::")}
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in constants:
            # "/encoder/layer.0/attention/self/query/MatMul", (in, out) where torch keeps (out, in).
            path = node.name.strip("/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{path}.weight"] = constants[node.input[1]].T
    config = BertConfig(hidden_size=384, num_hidden_layers=12, num_attention_heads=12, intermediate_size=1536)
    bert = BertModel(config, add_pooling_layer=False)
    known = bert.state_dict()
    bert.load_state_dict(
        {name: torch.tensor(np.array(weights[name])) for name in known if name in weights}, strict=False
    )
    missing = [name for name in known if name not in weights and not name.endswith("position_ids")]
    if missing:
        sys.exit(f"{graph} lacks {missing}")
    return bert


def vectors(folder: Path) -> dict[str, Any]:
    """Document and query vectors of the texts, as the reference gives them."""
    described = json.loads((folder / "trifuse.json").read_text())
    with tempfile.TemporaryDirectory() as checkpoint:
        rebuild(folder / "model.onnx").save_pretrained(checkpoint)
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(folder / "tokenizer.json"),
            **{f"{name}_token": f"[{name.upper()}]" for name in ("pad", "cls", "sep", "unk", "mask")},
        )
        tokenizer.save_pretrained(checkpoint)
        words = models.Transformer(checkpoint, max_seq_length=described["max_tokens"])
        pooling = models.Pooling(words.get_embedding_dimension(), pooling_mode=described["pooling"])
        reference = SentenceTransformer(modules=[words, pooling, models.Normalize()], device="cpu")
    found: dict[str, Any] = {}
    for role in ("document", "query"):
        rows = reference.encode(list(TEXTS.values()), prompt=described[f"{role}_prefix"])
        found[role] = [[round(float(x), 5) for x in row] for row in rows]
    return found


if __name__ == "__main__":
    named = dict(argument.split("=", 1) for argument in sys.argv[1:])
    content = {"texts": TEXTS, "models": {name: vectors(Path(path)) for name, path in named.items()}}
    # One vector a line.
    print(json.dumps(content, ensure_ascii=False).replace("[[", "[\n[").replace("], [", "],\n["))  # noqa: T201
