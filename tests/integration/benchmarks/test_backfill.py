"""`benchmarks/backfill.py` on made-up trials: killed twice, it ends with every vector."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "backfill.py"

pytestmark = pytest.mark.timeout(400)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two files of 160 trials, one of which has no text."""
    for number, name in enumerate(("ctgov_full", "ctgov_csv")):
        (tmp_path / name).mkdir()
        with gzip.open(tmp_path / name / "trials.jsonl.gz", "wt", encoding="utf-8") as file:
            for place in range(160):
                record = {
                    "nct_id": f"NCT{number}{place:07d}",
                    "brief_title": f"A made-up remedy, volume {place}" if place else None,
                    "conditions": [f"made-up illness {place % 7}"] if place else [],
                }
                file.write(json.dumps(record) + "\n")
    return tmp_path


def test_a_backfill_that_is_killed_twice_resumes(data: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--data", data, "--limit", "300", "--json"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if not name.startswith("TRIFUSE_METRICS")},
        capture_output=True,
        text=True,
        timeout=380,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # The first of each file has no text; of the second file 140 are left by the limit.
    assert (found["documents"], found["current"], found["empty"], found["failed"]) == (300, 298, 2, 0)
    # Two processes are killed twice, each with a message of 32 documents at most.
    assert 298 <= found["texts"] <= 298 + 4 * 32
    assert found["memory"]["worker"]["peak_mib"] > 0
