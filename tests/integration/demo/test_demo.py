"""`trifuse demo` as a user runs it: a process of its own, real services, its own worker."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trifuse.deploy.demo.sample import TRIALS
from trifuse.deploy.local.up import down

CHOSEN = "NCT99000001"
"""Never says "heart" or "attack"; what people chose most for queries like "heart attack"."""

Demo = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def demo(services: Any) -> Iterator[Demo]:
    """Runs the command with a home of its own; what it left running is ended."""
    home: Path = services.folder / "demo"
    environ = os.environ | services.environ() | {"TRIFUSE_HOME": str(home), "COLUMNS": "110"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from trifuse.deploy.cli import main; main()", "demo", *arguments]
        return subprocess.run(
            command, env=environ, cwd=home.parent, capture_output=True, text=True, timeout=240, check=False
        )

    home.mkdir(parents=True, exist_ok=True)
    yield run
    down(home)


def _report(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def test_the_whole_path_and_the_same_again(demo: Demo, index_name: str) -> None:
    done = demo("--index", index_name, "--json")
    first = _report(done)

    # In = indexed + unchanged + rejected; BM25 answered before the wait for the vectors.
    assert first["load"] == {"read": 63, "indexed": 63, "unchanged": 0, "rejected": 0}
    assert "read 63 = indexed 63 + unchanged 0 + rejected 0" in done.stderr
    assert first["early"]["hits"] > 0
    counts = first["counts"]
    assert (counts["documents"], counts["current"], counts["missing"], counts["stale"]) == (63, 63, 0, 0)

    # Every click of the sample counts; past queries have vectors, or none of these would be found.
    clicks = sum(json.loads(line).get("action_name") == "click" for line in _lines("clicks.ndjson"))
    assert first["clicks"]["counted"] == clicks
    assert "heart attack treatment" in first["similar"]
    sentences = first["sentences"]
    assert sentences["documents"] == sentences["current"] == sentences["indexed"] > 0

    # BM25 alone misses the trial, vectors find it far below, clicks put it first, fusion near the top.
    ranks = {leg: ids.index(CHOSEN) + 1 if CHOSEN in ids else None for leg, ids in first["rankings"].items()}
    assert ranks["lexical"] is None
    assert ranks["clicks"] == 1
    assert ranks["dense"] > 8 >= ranks["fused"]
    # Each hit's score is what its signals gave it.
    for hit in first["hits"]:
        given = sum(signal["weight"] * signal["normalized"] for signal in hit["legs"].values())
        assert hit["score"] == pytest.approx(given, abs=1e-6)
    assert {"lexical", "dense", "clicks"} == set().union(*(hit["legs"] for hit in first["hits"]))

    second = _report(demo("--index", index_name, "--json", "--down"))
    assert second["load"] == {"read": 63, "indexed": 0, "unchanged": 63, "rejected": 0}
    assert second["early"]["vectors"] == 63
    assert second["clicks"]["counted"] == 0
    assert second["sentences"]["indexed"] == 0
    assert second["rankings"] == first["rankings"]


def test_files_of_ones_own_without_clicks(demo: Demo, index_name: str, tmp_path: Path) -> None:
    # Of the first nine trials three name "Myocardial Infarction", the next condition two.
    (tmp_path / "mine.ndjson").write_text("\n".join(_lines("trials.ndjson")[:9]) + "\n", "utf-8")
    done = demo("--data", str(tmp_path), "--index", index_name, "--sentences", "0", "--down")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "read 9 = indexed 9 + unchanged 0 + rejected 0" in done.stdout
    assert "Rank 'Myocardial Infarction' by three signals" in done.stdout
    assert f"trifuse clicks load events.ndjson --index {index_name}" in done.stdout
    assert f"trifuse search {index_name} 'Myocardial Infarction' --explain" in done.stdout


def test_files_without_a_trial_end_with_the_reason(demo: Demo, index_name: str, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text('{"statistics": {"total": 5}}', "utf-8")
    done = demo("--data", str(tmp_path / "odd.json"), "--index", index_name, "--down")
    assert done.returncode == 1
    assert "trifuse: no trial could be loaded from" in done.stderr
    assert "odd.json" in done.stderr
    assert "Traceback" not in done.stderr


def _lines(name: str) -> list[str]:
    return TRIALS.with_name(name).read_text("utf-8").splitlines()
