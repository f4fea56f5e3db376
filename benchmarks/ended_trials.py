"""A sample of the registry's export that has ended, as records that `trifuse load` reads.

    python benchmarks/ended_trials.py ctgov_csv/trials.jsonl.gz --out ended.jsonl
    trifuse load ended.jsonl --index ended --encoder trial2vec-small && trifuse sync ended --wait
    trifuse outcome train ended --out ended.json --baselines

Drawn by the hash of the id: a larger sample holds the smaller one. `trial2vec.py --table outcome --labels
status --trials N` draws the same ones.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from trifuse.deploy.outcome import Outcomes

TRIALS = 1500


def ended_trials(path: Path, count: int) -> list[dict[str, Any]]:
    """So many of a file's records whose status is an end, as they stand there; all of fewer."""
    ended = Outcomes()
    found = {row["nct_id"]: row for row in _rows(path) if ended.of(row["overall_status"]) is not None}
    kept = drawn(found, count)
    return [row for name, row in found.items() if name in kept]


def drawn(ids: Iterable[str], count: int) -> set[str]:
    """The ids whose sha256 is least."""
    return set(sorted(ids, key=lambda name: hashlib.sha256(name.encode()).digest())[:count])


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Write the records as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="the export, gzip'd NDJSON")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--trials", type=int, default=TRIALS, help="how many")
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for row in ended_trials(options.file, options.trials):
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
