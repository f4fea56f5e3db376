"""Faults in the middle of commands: a part of `benchmarks/faults.py` that has each fault and each job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "faults.py"

CELLS = (
    "worker-killed/load",
    "process-killed/attach",
    "redis-emptied/load",
    "opensearch-restarted/attach",
    "read-only/load",
    "storm-429/attach",
    "delivered-twice/reembed",
    "clock-moved/attach",
    "owner-edits/reembed",
    "disk-full/load",
    "redis-emptied/clicks",
)
"""All but redis-stopped, which takes a minute."""

Cells = dict[str, dict[str, Any]]

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    """The cells, run once. Not from the project's folder: there a bare `worker` could be imported."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--cells", ",".join(CELLS), "--documents", "300", "--json"],
        cwd=tmp_path_factory.mktemp("faults"),
        env={name: value for name, value in os.environ.items() if not name.startswith("TRIFUSE_METRICS")},
        capture_output=True,
        text=True,
        timeout=840,
    )
    assert done.stdout, done.stderr
    return {f"{cell['fault']}/{cell['job']}": cell for cell in json.loads(done.stdout)["cells"]}


@pytest.mark.parametrize("name", CELLS)
def test_the_job_ends_well(cells: Cells, name: str) -> None:
    assert cells[name]["ok"], cells[name]["detail"]


def test_a_pattern_that_matches_nothing_names_what_there_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--cells", "flood/*"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "worker-killed" in done.stderr
