"""Trials a second by Trial2Vec's graph, against encoding the same parts as texts: same backbone and CPU.

The weights decide nothing here: the model is made on the spot, untrained, so that the vector of a part is the
backbone's vector of its text, and it can be seen that both do the same work. Needs the extra `train`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import memory
import msgspec
import numpy as np
from ratio import Ratio, Report, paired_ratio
from tokenizers import Tokenizer

from trifuse.encoder.description import (
    DESCRIPTION_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    ModelFolder,
    read_model,
)
from trifuse.encoder.encode import OnnxEncoder
from trifuse.encoder.onnx import quantize_graph
from trifuse.encoder.parts import Part
from trifuse.encoder.registry import open_model
from trifuse.encoder.trial import TrialEncoder
from trifuse.indexer.trial_parts import trial_parts

SAME_WORK = {"fp32": 0.9999, "int8": 0.95}
"""The mean cosine of a part's vectors by both, at least."""

Trials = Sequence[Mapping[str, str]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of this part; `--model`, in fp32, is that of `encode`."""
    group = parser.add_argument_group("trial2vec")
    group.add_argument("--trials-encoded", type=int, default=64, help="how many trials a run encodes")
    group.add_argument("--trials-batches", type=int, default=200, help="of four trials, for the memory curve")


def measure(options: argparse.Namespace) -> Report:
    """The ratios of `trial2vec` and `trial2vec_int8`, and how memory grows."""
    ratios: dict[str, Ratio] = {}
    quality: dict[str, Mapping[str, float]] = {}
    flat = open_model(options.model)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ours = _exported(options.model, folder)
        trials = _trials(options.data, options.trials_encoded, ours)
        pairs = {"fp32": (ours["fp32"], flat), "int8": (ours["int8"], _rounded(flat, folder / "flat-int8"))}
        for precision, (parts, texts) in pairs.items():
            name = "trial2vec" if precision == "fp32" else f"trial2vec_{precision}"
            ratios[name], cosine = _compared(parts, texts, trials, options.runs)
            if cosine < SAME_WORK[precision]:
                sys.exit(f"{name}: not the same work, mean cosine {cosine:.4f} of a part's vectors")
            curve = asdict(memory.measure(parts, options.trials_batches, texts=4, words=120))
            kept = ("loaded_mib", "peak_mib", "growth_mib", "slope_mib_per_1000")
            quality[name] = {"cosine": cosine} | {key: curve[key] for key in kept}
    return Report(ratios, quality=quality)


def _compared(parts: ModelFolder, texts: ModelFolder, trials: Trials, runs: int) -> tuple[Ratio, float]:
    ours, peer = TrialEncoder(parts), OnnxEncoder(texts)
    flat = [text for trial in trials for text in trial.values()]
    random.Random(7).shuffle(flat)

    def run_ours() -> float:
        start = time.perf_counter()
        ours.encode_documents(trials)
        return len(trials) / (time.perf_counter() - start)

    def run_peer() -> float:
        start = time.perf_counter()
        peer.encode_documents(flat)
        return len(trials) / (time.perf_counter() - start)

    found = ours.encode_parts(trials[:8])
    expected = peer.encode_documents(
        [trials[row][ours.space.parts[column]] for row, column in np.argwhere(found.present)]
    )
    cosine = float((found.local[found.present] * expected).sum(axis=1).mean())
    return paired_ratio(run_ours, run_peer, runs), cosine


def _exported(checkpoint: str, folder: Path) -> dict[str, ModelFolder]:
    """An untrained model around a checkpoint, by precision."""
    from trifuse.encoder.training import open_checkpoint
    from trifuse.encoder.training.trial2vec.export import describe, export_trial2vec, quantize_trial2vec
    from trifuse.encoder.training.trial2vec.model import Trial2Vec

    with open_checkpoint(checkpoint) as start:
        model = Trial2Vec(start.transformer, pooling=start.pooling)
        export_trial2vec(model, start.tokenizer, describe(model, "trial2vec-untrained"), folder / "fp32")
    quantize_trial2vec(folder / "fp32", folder / "int8", name="trial2vec-untrained-int8")
    return {precision: read_model(folder / precision) for precision in ("fp32", "int8")}


def _rounded(flat: ModelFolder, folder: Path) -> ModelFolder:
    """The encoder of texts in int8, made as ours is."""
    folder.mkdir()
    (folder / TOKENIZER_FILE).write_bytes((flat.path / TOKENIZER_FILE).read_bytes())
    description = msgspec.structs.replace(flat.description, name="flat-int8", precision="int8")
    (folder / DESCRIPTION_FILE).write_bytes(msgspec.json.encode(description))
    quantize_graph(flat.path / MODEL_FILE, folder / MODEL_FILE)
    return read_model(folder)


def _trials(data: Path, many: int, ours: Mapping[str, ModelFolder]) -> list[dict[str, str]]:
    """Trials of all years; each part is cut to its limit, so that both encode the same tokens."""
    with gzip.open(data / "ctgov_full" / "trials.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [trial_parts(json.loads(line)) for line in islice(lines, 0, None, 97)]
    random.Random(7).shuffle(records)
    model = ours["fp32"]
    tokenizer = Tokenizer.from_file(str(model.path / TOKENIZER_FILE))
    tokenizer.no_truncation()
    limits = {part.name: part for part in model.description.parts}
    return [
        {name: _cut(text, tokenizer, limits[name]) for name, text in record.items()}
        for record in records[:many]
    ]


def _cut(text: str, tokenizer: Any, part: Part) -> str:
    """The text up to the last token that the part may have, before the special token that ends it."""
    offsets = tokenizer.encode(text).offsets
    return text if len(offsets) <= part.max_tokens else text[: offsets[part.max_tokens - 2][1]]
