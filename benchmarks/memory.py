"""Resident memory over many batches, which must be flat: `python benchmarks/memory.py [--json]`.

Texts of random lengths, new ones for every batch, so that shapes hardly repeat. Prints the curve, its slope
over the second half in MiB per thousand batches, and its growth: what the last tenth has above the second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tiny_model import make_model
from tiny_parts import make_parts_model

from trifuse.encoder import DEFAULT_ENCODER, Encoder, load_encoder
from trifuse.encoder.description import ModelFolder, read_model
from trifuse.encoder.registry import open_model

MIB = 1 << 20
POINTS = 50
VOCABULARY = ["knee", "pain", "trial", "dose", "week", "child", "heart", "sleep"]


@dataclass(frozen=True)
class Curve:
    """Resident memory while encoding.

    Args:
        batches: how many were encoded.
        loaded_mib: before the first batch.
        peak_mib: the highest point.
        growth_mib: the median of the last tenth less that of the second, when all is warm.
        slope_mib_per_1000: of a line through the second half.
        mib: the points, evenly spread over the batches.
    """

    batches: int
    loaded_mib: float
    peak_mib: float
    growth_mib: float
    slope_mib_per_1000: float
    mib: list[float]


def rss_mib() -> float:
    """Resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / MIB


def measure(model: ModelFolder, batches: int, *, texts: int, words: int) -> Curve:
    """Encode `batches` times so many texts of up to so many words; documents where a model has parts."""
    encoder: Encoder = load_encoder(str(model.path))
    rng = random.Random(0)

    def text() -> str:
        return " ".join(rng.choices(VOCABULARY, k=rng.randint(1, words)))

    def item() -> Any:
        names = encoder.space.parts
        return {name: text() for name in rng.sample(names, rng.randint(1, len(names)))} if names else text()

    loaded, points = rss_mib(), []
    for number in range(batches):
        encoder.encode_documents([item() for _ in range(texts)])
        if number % max(1, batches // POINTS) == 0:
            points.append(rss_mib())
    tenth, half = max(1, len(points) // 10), len(points) // 2
    per_point = batches / len(points)
    slope = np.polyfit(np.arange(len(points) - half) * per_point, points[half:], 1)[0] * 1000
    return Curve(
        batches=batches,
        loaded_mib=round(loaded, 1),
        peak_mib=round(max(points), 1),
        growth_mib=round(float(np.median(points[-tenth:]) - np.median(points[tenth : 2 * tenth])), 2),
        slope_mib_per_1000=round(float(slope), 3),
        mib=[round(point, 1) for point in points],
    )


def tiny(folder: Path) -> ModelFolder:
    """A random model of 8 words, in which every token looks at every other."""
    return read_model(make_model(folder, _words(), attention=True, max_tokens=64))


def tiny_parts(folder: Path) -> ModelFolder:
    """A random model of 8 words and five parts."""
    return read_model(make_parts_model(folder, _words()))


def _words() -> dict[str, list[float]]:
    rows = np.random.default_rng(0).normal(size=(len(VOCABULARY), 64))
    return {word: row.tolist() for word, row in zip(VOCABULARY, rows, strict=True)}


def main() -> None:
    """Measure, and print the curves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_ENCODER, help="the real model, a name or a folder")
    parser.add_argument("--batches", type=int, default=200, help="of the real model")
    parser.add_argument("--tiny-batches", type=int, default=10_000, help="of a tiny random model")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        curves = {
            "tiny": measure(tiny(Path(folder) / "tiny"), options.tiny_batches, texts=4, words=60),
            "parts": measure(tiny_parts(Path(folder) / "parts"), options.tiny_batches, texts=4, words=60),
            options.model: measure(open_model(options.model), options.batches, texts=4, words=120),
        }
    if options.json:
        json.dump({name: asdict(curve) for name, curve in curves.items()}, sys.stdout, indent=2)
        return
    for name, curve in curves.items():
        print(
            f"{name}: {curve.batches} batches, {curve.loaded_mib} MiB loaded, peak {curve.peak_mib}, "
            f"growth {curve.growth_mib} MiB, {curve.slope_mib_per_1000} MiB per 1000 batches"
        )
        print("  " + " ".join(f"{point:.0f}" for point in curve.mib))


if __name__ == "__main__":
    main()
