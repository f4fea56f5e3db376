"""How NFCorpus is parted for the benchmark of the small recipe."""

from __future__ import annotations

import gzip
import runpy
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
pytestmark = pytest.mark.train

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "train_small.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


def test_a_text_is_parted_at_the_first_abstract(script: dict[str, Any], tmp_path: Path) -> None:
    lines = "d1\tstatins pubmed abstract recent studies abstract words \nd2\tno title here\n"
    (tmp_path / "docs_dev_test.tsv.gz").write_bytes(gzip.compress(lines.encode()))
    assert list(script["parted"](tmp_path)) == [
        "d1\tstatins pubmed\trecent studies abstract words\n",
        "d2\t\tno title here\n",
    ]


def test_queries_are_parted_in_two_and_always_alike(script: dict[str, Any]) -> None:
    queries = {f"q{number}": f"text {number}" for number in range(50)}
    learned, judged = script["split"](queries, 10)
    assert (len(learned), len(judged)) == (40, 10)
    assert learned | judged == queries
    assert script["split"](queries, 10) == (learned, judged)
