"""The benchmark on NFCorpus, run on a made-up corpus of its layout."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
FILES = {
    "docs_dev_test.tsv.gz": "M-1\tstatins after breast cancer\nM-2\tdark chocolate and pressure\nM-3\tgout\n",
    "train.titles.queries.tsv": "T-1\tcocoa\nT-2\tStatins ?\nT-3\tno judgements\n",
    "train.2-1-0.qrel.gz": "T-1\t0\tM-2\t2\nT-1\t0\tM-3\t0\nT-2\t0\tM-1\t1\nT-1\t0\tM-9\t1\n",
    "dev.titles.queries.tsv": "D-1\tcocoa powder\nD-2\tstatins\nD-3\tnothing relevant\n",
    "dev.2-1-0.qrel.gz": "D-1\t0\tM-2\t2\nD-2\t0\tM-1\t1\nD-3\t0\tM-1\t0\n",
}


def test_the_table_of_a_made_up_corpus(services: Any, tmp_path: Path) -> None:
    """BM25 finds M-2 for no word of `cocoa powder`, the log does; `statins` is left out of the log."""
    for name, content in FILES.items():
        data = content.encode()
        (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    command = [sys.executable, str(ROOT / "benchmarks" / "nfcorpus.py"), "--data", str(tmp_path), "--json"]
    environ = {**os.environ, **services.environ()}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert list(found["profiles"]) == [
        "bm25",
        "dense",
        "hybrid",
        "log",
        "bm25+log",
        "dense+log",
        "hybrid+log",
    ]
    assert (found["queries"], found["excluded"]) == (2, 1)
    assert found["log"] == {"queries": 1, "pairs": 1, "rejected": {"unknown document": 1}}  # M-9
    values = {name: {q: v["RR"] for q, v in each.items()} for name, each in found["per_query"].items()}
    assert values["bm25"] == {"D-1": 0.0, "D-2": 1.0}
    assert values["log"] == {"D-1": 1.0, "D-2": 0.0}
    assert values["bm25+log"] == {"D-1": 1.0, "D-2": 1.0}
    assert found["tests"]["bm25+log"]["RR"]["difference"] == 0.5
    assert found["legs"]["bm25"]["lexical"] == {"ok": 1, "empty": 1}
