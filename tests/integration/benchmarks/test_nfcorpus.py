"""The benchmark on NFCorpus, run on a made-up corpus of its layout."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from trifuse.ranker import Profile

ROOT = Path(__file__).parents[3]
FILES = {
    "docs_dev_test.tsv.gz": "M-1\tstatins after breast cancer\nM-2\tdark chocolate and pressure\nM-3\tgout\n",
    "train.titles.queries.tsv": "T-1\tcocoa\nT-2\tStatins ?\nT-3\tno judgements\n",
    "train.2-1-0.qrel.gz": "T-1\t0\tM-2\t2\nT-1\t0\tM-3\t0\nT-2\t0\tM-1\t1\nT-1\t0\tM-9\t1\n",
    "dev.titles.queries.tsv": "D-1\tcocoa powder\nD-2\tstatins\nD-3\tnothing relevant\n",
    "dev.2-1-0.qrel.gz": "D-1\t0\tM-2\t2\nD-2\t0\tM-1\t1\nD-3\t0\tM-1\t0\n",
}


def write(folder: Path) -> None:
    """The made-up corpus as files."""
    for name, content in FILES.items():
        data = content.encode()
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


def run(script: str, services: Any, *options: str) -> Any:
    """What the script prints as JSON."""
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options, "--json"]
    environ = {**os.environ, **services.environ()}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_table_of_a_made_up_corpus(services: Any, tmp_path: Path) -> None:
    """BM25 finds M-2 for no word of `cocoa powder`, the log does; `statins` is left out of the log."""
    write(tmp_path)
    found = run("nfcorpus.py", services, "--data", str(tmp_path))
    ours = ["bm25", "dense", "hybrid", "log", "bm25+log", "dense+log", "hybrid+log"]
    lader = ["lader-no-log", "lader", "lader-no-dense", "lader-bm25", "lader-hybrid"]
    assert list(found["profiles"]) == ours + lader
    assert list(found["profiles"]["log"]) == ["nDCG@10", "RR", "R@10", "R@1000"]
    assert (found["queries"], found["excluded"]) == (2, 1)
    assert found["log"] == {"queries": 1, "pairs": 1, "rejected": {"unknown document": 1}}  # M-9
    values = {name: {q: v["RR"] for q, v in each.items()} for name, each in found["per_query"].items()}
    assert values["bm25"] == {"D-1": 0.0, "D-2": 1.0}
    assert values["log"] == {"D-1": 1.0, "D-2": 0.0}
    assert values["bm25+log"] == {"D-1": 1.0, "D-2": 1.0}
    assert found["tests"]["bm25+log"]["RR"]["difference"] == 0.5
    assert found["legs"]["bm25"]["lexical"] == {"ok": 1, "empty": 1}
    assert found["legs"]["lader-bm25"]["clicks"] == {"ok": 2}


def test_other_queries_and_judgements(services: Any, tmp_path: Path) -> None:
    """Other names, gzip'd queries and plain judgements; one query has no judgement, another a foreign one."""
    write(tmp_path)
    (tmp_path / "other.tsv.gz").write_bytes(gzip.compress(b"O-1\tcocoa powder\nO-2\tnot judged\n"))
    (tmp_path / "other.qrel").write_text("O-1\t0\tM-2\t1\nO-1\t0\tM-404\t1\nO-9\t0\tM-1\t2\n")
    found = run(
        "nfcorpus.py",
        services,
        *("--data", str(tmp_path), "--queries", "other.tsv.gz", "--qrels", str(tmp_path / "other.qrel")),
        "--no-lader",
    )
    assert (found["queries"], found["excluded"]) == (1, 1)
    assert len(found["profiles"]) == 7
    assert found["profiles"]["hybrid+log"]["R@1000"]["mean"] == 0.5
    assert found["log"]["queries"] == 2  # `Statins ?` isn't asked here


def test_fusion_is_tuned_without_the_log_and_with_it(services: Any, tmp_path: Path) -> None:
    """Two judged queries in two folds; the log's leg is there to be weighed, or it isn't."""
    write(tmp_path)
    found = run("nfcorpus_fusion.py", services, "--data", str(tmp_path), "--folds", "2")
    baselines = {name: each["baseline"]["profile"] for name, each in found.items()}
    assert baselines == {
        "without the log": "hybrid",
        "with the log": "hybrid",
        "with the log, from the default": "default",
    }
    assert {each["queries"] for each in found.values()} == {2}
    weighed = {name: "clicks" in each["curve"] for name, each in found.items()}
    assert weighed == {"without the log": False, "with the log": True, "with the log, from the default": True}


def test_tuning_never_reads_the_evaluation(services: Any, tmp_path: Path) -> None:
    """Four training queries in two folds; the evaluation's files aren't even there."""
    write(tmp_path)
    for name in FILES:
        if name.startswith("dev"):
            (tmp_path / name).unlink()
    (tmp_path / "train.titles.queries.tsv").write_text(
        "T-1\tcocoa\nT-2\tstatins\nT-3\tcocoa powder\nT-4\tstatin therapy\n"
    )
    (tmp_path / "train.2-1-0.qrel.gz").write_bytes(
        gzip.compress(b"T-1\t0\tM-2\t2\nT-2\t0\tM-1\t1\nT-3\t0\tM-2\t1\nT-4\t0\tM-1\t1\n")
    )
    saved = tmp_path / "tuned.json"
    found = run("nfcorpus_tune.py", services, "--data", str(tmp_path), "--folds", "2", "--save", str(saved))
    assert found["queries"] == 4
    assert len(found["by_fold"]) == 2
    low, high = found["heldout"]["ci95"]
    assert 0 <= low <= found["heldout"]["mean"] <= high <= 1
    profile = Profile.from_dict(json.loads(saved.read_text()))
    assert (profile.clicks.m, profile.weights["clicks"]) == (found["best"]["m"], found["best"]["weight"])
