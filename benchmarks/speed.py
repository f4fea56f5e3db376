"""How fast trifuse is, as paired ratios: ours against a peer, in one run on one machine.

    python benchmarks/speed.py --only encode --json
    python benchmarks/speed.py --only load --rounds 10 --limit 512 --json

prints `{"ratios": {name: {"ours", "peer", "ratio", "ci95", "unit"}}}`: the medians, the median ratio of the
interleaved runs, and its bootstrap interval, which must clear the aim that a claim is made for; and `growth`,
a row a size, of the parts that try several. Each part is a module, `speed_PART.py`, with
`add_arguments(parser)` and `measure(options) -> Report`:

- `encode`: texts a second of our encoder, against sentence-transformers' ONNX backend.
- `load`: documents a second from the record to the written vector, against our encoder alone.
- `clicks`: what the click log adds to a search, takes of Redis and counts a second, and how these grow.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict

import speed_clicks
import speed_encode
import speed_load
from ratio import Ratio

PARTS = {"encode": speed_encode, "load": speed_load, "clicks": speed_clicks}


def main() -> None:
    """Run the parts that are asked for, and print their ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="a part (default: all of them)")
    parser.add_argument("--runs", "--rounds", type=int, default=10, help="interleaved pairs, at least 10")
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    for part in PARTS.values():
        part.add_arguments(parser)
    options = parser.parse_args()
    ratios: dict[str, Ratio] = {}
    growth: list[Mapping[str, float]] = []
    for name in options.only or PARTS:
        report = PARTS[name].measure(options)
        ratios |= report.ratios
        growth += report.growth
    if options.json:
        found = {"ratios": {name: asdict(ratio) for name, ratio in ratios.items()}, "growth": growth}
        print(json.dumps(found, indent=2))
        return
    for name, r in ratios.items():
        print(
            f"{name}: {r.ratio:.2f} (95% {r.ci95[0]:.2f} to {r.ci95[1]:.2f}); "
            f"ours {r.ours:.1f} {r.unit}, peer {r.peer:.1f} {r.unit}"
        )
    for row in growth:
        print(", ".join(f"{name} {value:.4g}" for name, value in row.items()))


if __name__ == "__main__":
    main()
