"""Texts a second of our encoder against sentence-transformers' ONNX backend: same model, texts and CPU."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
from peer import asking
from ratio import Report, paired_ratio

from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.registry import open_model

ROOT = Path(__file__).parent.parent
PEER = "sentence_transformers_onnx.py"
SAME_SPACE = 0.9999


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("encode")
    group.add_argument("--model", default="bge-small-en-v1.5", help="a model's name or folder, fp32")
    group.add_argument("--texts", type=Path, help="a text a line (default: titles and summaries of trials)")
    group.add_argument("--texts-limit", type=int, default=256, help="how many texts a run encodes")


def measure(options: argparse.Namespace) -> Report:
    """The ratio of `encode`."""
    texts = _texts(options.texts, options.texts_limit)
    model = open_model(options.model)
    encoder = OnnxEncoder(model)
    with asking(options.peer_python, PEER, str(model.path)) as ask:
        ours, theirs = encoder.encode_documents(texts[:16]), np.array(ask(vectors=texts[:16]))
        cosine = float((ours * theirs).sum(axis=1).min())
        if cosine < SAME_SPACE:
            sys.exit(f"the two don't do the same work: lowest cosine {cosine:.6f}, expected {SAME_SPACE}")

        def run_ours() -> float:
            start = time.perf_counter()
            encoder.encode_documents(texts)
            return len(texts) / (time.perf_counter() - start)

        return Report({"encode": paired_ratio(run_ours, lambda: len(texts) / ask(time=texts), options.runs)})


def _texts(path: Path | None, limit: int) -> list[str]:
    """Texts of mixed lengths, in an order that no length decides."""
    if path is not None:
        texts = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        folder = Path(os.environ.get("TRIFUSE_DATA", ROOT / "../shared/data"))
        with gzip.open(folder / "ctgov_full" / "trials.jsonl.gz", "rt", encoding="utf-8") as lines:
            trials = [json.loads(line) for line in lines]
        texts = [trial[key] for trial in trials for key in ("brief_title", "brief_summary") if trial[key]]
    random.Random(7).shuffle(texts)
    return texts[:limit]
