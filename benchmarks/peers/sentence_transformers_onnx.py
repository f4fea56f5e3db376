"""The peer of `speed_encode`: sentence-transformers' ONNX backend, run in an environment of its own.

Reads a line of JSON, `{"time": [texts]}` or `{"vectors": [texts]}`, and answers with a line: the seconds that
encoding took, or the vectors. Everything is the library's default, on the CPU.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

BERT_SMALL = {
    "architectures": ["BertModel"],
    "model_type": "bert",
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "vocab_size": 30522,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "pad_token_id": 0,
}
TOKENIZER = {
    "tokenizer_class": "BertTokenizer",
    "do_lower_case": True,
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "mask_token": "[MASK]",
}


def lay_out(model: Path, folder: Path) -> None:
    """A model's folder in the layout that sentence-transformers reads."""
    described = json.loads((model / "trifuse.json").read_text())
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").symlink_to(model / "model.onnx")
    shutil.copy(model / "tokenizer.json", folder)
    _write(folder / "config.json", BERT_SMALL)
    _write(folder / "tokenizer_config.json", {**TOKENIZER, "model_max_length": described["max_tokens"]})
    _write(
        folder / "sentence_bert_config.json",
        {"max_seq_length": described["max_tokens"], "do_lower_case": False},
    )
    _write(
        folder / "1_Pooling" / "config.json",
        {
            "word_embedding_dimension": described["dimension"],
            "pooling_mode_cls_token": described["pooling"] == "cls",
            "pooling_mode_mean_tokens": described["pooling"] == "mean",
        },
    )
    parts = ["Transformer", "Pooling", "Normalize"]
    paths = ["", "1_Pooling", "2_Normalize"]
    _write(
        folder / "modules.json",
        [
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{part}"}
            for i, (part, path) in enumerate(zip(parts, paths, strict=True))
        ],
    )


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value))


def serve(model: Path) -> None:
    """Answer until stdin ends."""
    # Whatever libraries print goes to stderr: stdout holds answers only.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    os.environ["HF_HUB_OFFLINE"] = "1"
    from sentence_transformers import SentenceTransformer

    prefix = json.loads((model / "trifuse.json").read_text())["document_prefix"]
    with tempfile.TemporaryDirectory() as folder:
        lay_out(model, Path(folder))
        encoder = SentenceTransformer(
            folder,
            backend="onnx",
            device="cpu",
            model_kwargs={"provider": "CPUExecutionProvider", "file_name": "onnx/model.onnx"},
        )
        for line in sys.stdin:
            request = json.loads(line)
            answer: Any
            if "time" in request:
                start = time.perf_counter()
                encoder.encode(request["time"], prompt=prefix, show_progress_bar=False)
                answer = time.perf_counter() - start
            else:
                answer = encoder.encode(request["vectors"], prompt=prefix, show_progress_bar=False).tolist()
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
