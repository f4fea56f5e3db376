"""Faults in the middle of a load and of a click log: `benchmarks/faults.py`, cell by cell."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "faults.py"

Cells = dict[tuple[str, str], dict[str, Any]]

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Cells:
    """All cells, run once. Not from the project's folder: there a bare `worker` could be imported."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "--json"],
        cwd=tmp_path_factory.mktemp("faults"),
        env={name: value for name, value in os.environ.items() if not name.startswith("TRIFUSE_METRICS")},
        capture_output=True,
        text=True,
        timeout=1100,
    )
    assert done.stdout, done.stderr
    return {(cell["fault"], cell["job"]): cell for cell in json.loads(done.stdout)["cells"]}


@pytest.mark.parametrize("job", ["embed", "clicks"])
@pytest.mark.parametrize(
    "fault", ["worker-killed", "process-killed", "redis-emptied", "opensearch-killed", "delivered-twice"]
)
def test_the_job_ends_well(cells: Cells, fault: str, job: str) -> None:
    cell = cells[fault, job]
    assert cell["ok"], cell["detail"]


def test_a_pattern_that_matches_nothing_names_what_there_is(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, "--cells", "flood/*"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "worker-killed" in done.stderr
