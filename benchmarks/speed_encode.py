"""Texts a second of our encoder against sentence-transformers' ONNX backend: same model, texts and CPU.

The peer brings torch, so it lives in an environment of its own, which is made once:

    uv venv .cache/bench && uv pip install -p .cache/bench/bin/python -r requirements/bench.txt
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from ratio import Report, paired_ratio

from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.registry import open_model

ROOT = Path(__file__).parent.parent
PEER = Path(__file__).parent / "peers" / "sentence_transformers_onnx.py"
SAME_SPACE = 0.9999


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part."""
    group = parser.add_argument_group("encode")
    group.add_argument("--model", default="bge-small-en-v1.5", help="a model's name or folder, fp32")
    group.add_argument("--texts", type=Path, help="a text a line (default: titles and summaries of trials)")
    group.add_argument("--texts-limit", type=int, default=256, help="how many texts a run encodes")
    group.add_argument(
        "--peer-python", type=Path, default=ROOT / ".cache/bench/bin/python", help="the peer's Python"
    )


def measure(options: argparse.Namespace) -> Report:
    """The ratio of `encode`."""
    texts = _texts(options.texts, options.texts_limit)
    model = open_model(options.model)
    encoder = OnnxEncoder(model)
    with _peer(options.peer_python, model.path) as ask:
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


@contextmanager
def _peer(python: Path, model: Path) -> Iterator[Any]:
    """The peer's process, which answers one line of JSON with another."""
    if not python.is_file():
        sys.exit(f"no peer at {python}: make its environment first ({Path(__file__).name} says how)")
    command = [str(python), str(PEER), str(model)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(**request: Sequence[str]) -> Any:
            assert process.stdin is not None and process.stdout is not None  # noqa: S101
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                sys.exit("the peer ended without an answer; its error is above")
            return json.loads(answer)

        try:
            yield ask
        finally:
            process.terminate()
