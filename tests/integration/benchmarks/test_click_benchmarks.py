"""The benchmarks of the click log, small, on a made-up corpus of NFCorpus' layout."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
FOODS = ("cocoa", "statins", "walnuts", "turmeric", "broccoli", "garlic")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Twelve documents; each food's first is relevant (grade 2), its second isn't, but BM25 likes it more."""
    documents = [f"{food} in a trial of blood pressure and diet" for food in FOODS]
    others = [f"{food} {food} {food}" for food in FOODS]
    files = {
        "docs_dev_test.tsv.gz": [f"M-{n}\t{text}" for n, text in enumerate(documents + others)],
        "train.titles.queries.tsv": [f"T-{n}\t{food}" for n, food in enumerate(FOODS)],
        "train.2-1-0.qrel.gz": [f"T-{n}\t0\tM-{n}\t2" for n in range(6)],
        "dev.titles.queries.tsv": [f"D-{n}\t{food} trial" for n, food in enumerate(FOODS)],
        "dev.2-1-0.qrel.gz": [f"D-{n}\t0\tM-{n}\t2" for n in range(6)],
    }
    for name, lines in files.items():
        content = "".join(f"{line}\n" for line in lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return tmp_path


def run(services: Any, script: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, str(BENCHMARKS / script), "--json", *options]
    environ = {**os.environ, **services.environ()}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_cost_of_clicks_by_size(services: Any, corpus: Path) -> None:
    options = ["--only", "clicks", "--data", str(corpus), "--searched", "2", "--events", "400"]
    found = run(services, "speed.py", *options, "--pairs", "400", "800", "--clicked", "4", "--runs", "10")
    names = ["clicks_latency_p50", "clicks_latency_p95", "clicks_intake", "clicks_memory"]
    assert list(found["ratios"]) == names
    for ratio in found["ratios"].values():
        assert ratio["ours"] > 0
        assert ratio["ci95"][0] <= ratio["ratio"] <= ratio["ci95"][1]
    assert [(row["pairs"], row["past_queries"]) for row in found["growth"]] == [(400, 100), (800, 200)]
    assert found["growth"][1]["with_evidence"] == 1.0


def test_a_hot_query_loses_nothing(services: Any) -> None:
    found = run(services, "hot_query.py", "--rate", "2000", "--seconds", "1", "--documents", "50")
    assert (found["counted"], found["events"], found["lost"]) == (2050, 2050, False)
    assert found["hot"]["lookups"] > 0


def test_simulated_visitors(services: Any, corpus: Path) -> None:
    """Clicks order the two documents of a food as they are relevant, which BM25 does not."""
    options = ["--data", str(corpus), "--sessions", "600", "--attacks", "1", "--drift", "0"]
    found = run(services, "simulated.py", *options, "--half-lives", "30", "90")
    log = found["log"]
    assert log["events"] > log["counted"] > 300
    assert sum(log["segments"].values()) == 12
    assert found["rebuild"]["same_pairs"]
    assert found["rebuild"]["largest_difference"] < 1e-3
    means = {name: each["nDCG@10"]["mean"] for name, each in found["evidence"]["profiles"].items()}
    assert means["share"] > means["bm25"]
    assert means["expected"] > means["bm25"]
    assert found["curve"] == sorted(found["curve"], reverse=True)
    assert set(found["heldout"]["profiles"]) >= {"hybrid", "hybrid+log expected", "lader"}
    assert set(found["decay"]) == {"30", "90"}
