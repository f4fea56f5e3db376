"""The sample of trials that have ended: drawn by id whatever the order, and read as `trifuse load` does."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import ended_trials
import pytest
from ended_trials import drawn
from trial2vec_data import told


def test_a_larger_sample_holds_the_smaller_one_whatever_the_order() -> None:
    """sha256 of a begins with ca97, of b with 3e23, of c with 2e7d."""
    assert drawn("abc", 1) == {"c"}
    assert drawn("cba", 2) == {"b", "c"}
    assert drawn("bca", 9) == {"a", "b", "c"}


def test_only_ends_are_written_as_they_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the two that ended the sha256 of the first id begins with f2b6, that of the second with fc34."""
    path, out = tmp_path / "trials.jsonl.gz", tmp_path / "ended.jsonl"
    rows = [
        {"nct_id": f"NCT0000000{number}", "overall_status": status, "brief_title": f"pills {number}"}
        for number, status in ((1, "COMPLETED"), (2, "Withdrawn"), (3, "RECRUITING"))
    ]
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    monkeypatch.setattr(sys, "argv", ["ended_trials.py", str(path), "--out", str(out)])
    ended_trials.main()
    assert [json.loads(line) for line in out.read_text().splitlines()] == rows[:2]
    assert [trial.source["status"] for trial in told([out])] == ["COMPLETED", "WITHDRAWN"]
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--trials", "1"])
    ended_trials.main()
    assert [json.loads(line) for line in out.read_text().splitlines()] == rows[:1]
