"""The trials of the outcome benchmark TOP (Fu et al. 2022, "HINT") as flat records that `trifuse load` reads.

    python benchmarks/top_trials.py phase_I_*.csv.gz --out top.jsonl
    trifuse load top.jsonl --index top --encoder ENCODER
    trifuse outcome train top --out top.json --baselines --labels train=phase_I_train.csv.gz \
        --labels valid=phase_I_valid.csv.gz --labels test=phase_I_test.csv.gz

Its rows have diseases, drugs and criteria, but no title and no summary. Its status and its reason why a trial
stopped are left out.
"""

from __future__ import annotations

import argparse
import ast
import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LONGEST_FIELD = 2**24


def top_trials(path: Path) -> Iterator[dict[str, Any]]:
    """The records of one of its files."""
    for row in rows(path):
        yield {
            "nct_id": row["nctid"],
            "conditions": ast.literal_eval(row["diseases"]),
            "interventions": ast.literal_eval(row["drugs"]),
            "eligibility": row["criteria"],
            "phase": row["phase"],
        }


def rows(path: Path) -> Iterator[dict[str, str]]:
    """The rows of one of its files, as they stand there."""
    csv.field_size_limit(LONGEST_FIELD)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def main() -> None:
    """Write the records of some files as JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for path in options.files:
            for record in top_trials(path):
                out.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
