"""How fast trifuse is, as paired ratios: ours against a peer, in one run on one machine.

    python benchmarks/speed.py --only encode --json
    python benchmarks/speed.py --only load --rounds 10 --limit 512 --json

prints `{"ratios": {name: {"ours", "peer", "ratio", "ci95"}}}`: rates in units a second, the median ratio of
the interleaved runs, and its bootstrap interval, which must clear the aim that a claim is made for. Each part
is a module, `speed_PART.py`, with `add_arguments(parser)` and `measure(options) -> {name: Ratio}`:

- `encode`: texts a second of our encoder, against sentence-transformers' ONNX backend.
- `load`: documents a second from the record to the written vector, against our encoder alone.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

import speed_encode
import speed_load

PARTS = {"encode": speed_encode, "load": speed_load}


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
    ratios = {}
    for name in options.only or PARTS:
        ratios |= PARTS[name].measure(options)
    if options.json:
        print(json.dumps({"ratios": {name: asdict(ratio) for name, ratio in ratios.items()}}, indent=2))
        return
    for name, r in ratios.items():
        print(
            f"{name}: {r.ratio:.2f} (95% {r.ci95[0]:.2f} to {r.ci95[1]:.2f}); "
            f"ours {r.ours:.1f}/s, peer {r.peer:.1f}/s"
        )


if __name__ == "__main__":
    main()
