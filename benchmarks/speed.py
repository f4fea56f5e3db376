"""How fast trifuse is, as paired ratios: ours against a peer, in one run on one machine.

    python benchmarks/speed.py --only encode --json
    python benchmarks/speed.py --only load --rounds 10 --limit 512 --json

prints `{"ratios": {name: {"ours", "peer", "ratio", "ci95", "unit"}}}`: the medians, the median ratio of the
interleaved runs, and its bootstrap interval, which must clear the aim that a claim is made for; `growth`, a
row a size, of the parts that have several; and `quality`, of what a part compares beside its speed. Each part
is a module, `speed_PART.py`, with `add_arguments(parser)` and `measure(options) -> Report`:

- `encode`: texts a second of our encoder, against sentence-transformers' ONNX backend.
- `load`: documents a second from the record to the written vector, against our encoder alone.
- `clicks`: what the click log adds to a search, takes of Redis and counts a second, and how these grow.
- `query`: milliseconds of a search by either execution, against OpenSearch's own hybrid search by hand.
- `tune`: weight settings that are scored a second, against ranx.
- `trial2vec`: trials a second, against encoding the same parts as texts; memory over many batches.
- `aspect`: milliseconds of a search by an aspect, against the same search without one.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import speed_aspect
import speed_clicks
import speed_encode
import speed_load
import speed_query
import speed_trial2vec
import speed_tune
from peer import PYTHON
from ratio import Ratio

from trifuse.encoder import DEFAULT_ENCODER

PARTS = {
    "encode": speed_encode,
    "load": speed_load,
    "clicks": speed_clicks,
    "query": speed_query,
    "tune": speed_tune,
    "trial2vec": speed_trial2vec,
    "aspect": speed_aspect,
}


def main() -> None:
    """Run the parts that are asked for, and print their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="a part (default: all of them)")
    parser.add_argument("--runs", "--rounds", type=int, default=10, help="interleaved pairs, at least 10")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    data = Path("../shared/data")
    parser.add_argument("--data", type=Path, default=data, help="holds NFCorpus, ctgov_full, trialgpt_qrels")
    parser.add_argument("--encoder", default=DEFAULT_ENCODER, help="a model's name or folder")
    parser.add_argument("--peer-python", type=Path, default=PYTHON, help="of the peers (peer.py)")
    for part in PARTS.values():
        part.add_arguments(parser)
    options = parser.parse_args()
    ratios: dict[str, Ratio] = {}
    growth: list[Mapping[str, float]] = []
    quality: dict[str, Mapping[str, float]] = {}
    for name in options.only or PARTS:
        report = PARTS[name].measure(options)
        ratios |= report.ratios
        growth += report.growth
        quality |= report.quality
    if options.json:
        shown = {name: asdict(ratio) for name, ratio in ratios.items()}
        print(json.dumps({"ratios": shown, "growth": growth, "quality": quality}, indent=2))
        return
    for name, r in ratios.items():
        print(
            f"{name}: {r.ratio:.2f} (95% {r.ci95[0]:.2f} to {r.ci95[1]:.2f}); "
            f"ours {r.ours:.1f} {r.unit}, peer {r.peer:.1f} {r.unit}"
        )
    for row in growth:
        print(", ".join(f"{name} {value:.4g}" for name, value in row.items()))
    for way, measures in quality.items():
        print(f"{way}: " + ", ".join(f"{name} {value:.4f}" for name, value in measures.items()))


if __name__ == "__main__":
    main()
