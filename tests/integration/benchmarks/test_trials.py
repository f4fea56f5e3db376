"""The benchmark on patients' notes, run on made-up trials of its layout."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trifuse.ranker import Profile

ROOT = Path(__file__).parents[3]
TRIALS = [
    {"nct_id": "NCT00000001", "brief_title": "Asthma inhaler", "conditions": ["Asthma"]},
    {"nct_id": "NCT00000002", "brief_title": "Insulin for diabetes", "conditions": ["Diabetes"]},
    {
        "nct_id": "NCT00000003",
        "brief_title": "Melanoma vaccine",
        "conditions": ["Melanoma"],
        "eligibility": "Inclusion Criteria:\n\n- a pigmented lesion of the skin",
    },
]
NOTES = {
    "p1": "A man of 40 with wheezing, known for asthma.",
    "p2": "She drinks much, and her sugar is high: diabetes.",
    "p3": "A pigmented lesion on his back has grown.",
    "p4": "Nothing here is for her.",
}
QRELS = "p1\tNCT00000001\t2\np2\tNCT00000002\t1\np3\tNCT00000003\t2\np3\tNCT00000009\t2\np4\tNCT00000009\t2\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The made-up trials, notes and judgements as files."""
    files = {
        "ctgov_full/trials.jsonl.gz": "".join(json.dumps(trial) + "\n" for trial in TRIALS),
        "trialgpt_qrels/trec_2021.queries.jsonl.gz": "".join(
            json.dumps({"_id": id, "text": text}) + "\n" for id, text in NOTES.items()
        ),
        "trialgpt_qrels/trec_2021.qrels.test.tsv.gz": f"query-id\tcorpus-id\tscore\n{QRELS}",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content.encode()))
    return tmp_path


def run(script: str, services: Any, data: Path, *options: str) -> Any:
    """What the script prints as JSON."""
    given = ["--data", str(data), "--vectors", str(data / "vectors"), *options, "--json"]
    command = [sys.executable, str(ROOT / "benchmarks" / script), *given]
    environ = {**os.environ, **services.environ()}
    done = subprocess.run(command, capture_output=True, text=True, env=environ, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_table_of_made_up_trials(services: Any, data: Path) -> None:
    """p4's only relevant trial isn't here; p3's words are in a trial's criteria alone."""
    found = run("trials.py", services, data)
    assert list(found["profiles"]) == ["bm25", "dense", "hybrid", "tuned", "server", "server, plain body"]
    assert list(found["profiles"]["bm25"]) == ["nDCG@10", "P@10", "RR", "R@100", "Judged@10"]
    assert (found["queries"], found["excluded"]) == (3, 1)
    for name in ("bm25", "hybrid", "tuned", "server"):
        assert found["profiles"][name]["RR"]["mean"] == 1.0, name
    assert found["profiles"]["dense"]["R@100"]["mean"] == 1.0  # NCT00000009 isn't counted against it
    assert found["tests"]["tuned"]["RR"]["against"] == "hybrid"
    assert found["legs"]["tuned"] == {"lexical": {"ok": 3}, "dense": {"ok": 3}, "clicks": {"off": 3}}


def test_other_notes_and_judgements(services: Any, data: Path) -> None:
    """Plain files at paths of their own; one note has no judgement."""
    (data / "notes.jsonl").write_text('{"_id": "a", "text": "asthma"}\n{"_id": "b", "text": "gout"}\n')
    (data / "judged.tsv").write_text("query-id\tcorpus-id\tscore\na\tNCT00000001\t1\n")
    options = ("--queries", str(data / "notes.jsonl"), "--qrels", str(data / "judged.tsv"))
    found = run("trials.py", services, data, *options, "--measures", "RR,R@1000")
    assert (found["queries"], found["excluded"]) == (1, 1)
    assert found["profiles"]["tuned"] == {m: {"mean": 1.0, "ci95": [1.0, 1.0]} for m in ("RR", "R@1000")}


def test_tuning_and_what_it_saves(services: Any, data: Path) -> None:
    """Three notes in three folds; what is saved is what trials.py compares."""
    saved = data / "tuned.json"
    found = run("trials_tune.py", services, data, "--folds", "3", "--seeds", "2", "--save", str(saved))
    assert found["queries"] == 3
    assert 0 <= found["heldout"]["mean"] <= found["best"]["mean"] <= 1
    profiles = {name: Profile.from_dict(value) for name, value in json.loads(saved.read_text()).items()}
    assert list(profiles) == ["tuned", "server", "server, plain body"]
    assert profiles["server"].execution == "native"
    compared = run("trials.py", services, data, "--profiles", str(saved))
    for name in ("tuned", "server", "server, plain body"):
        here = found["best"] if name == "tuned" else found[name]
        assert compared["profiles"][name]["nDCG@10"]["mean"] == pytest.approx(here["mean"]), name


def test_latency_and_quality_of_both_executions(services: Any, data: Path) -> None:
    options = ("--only", "query", "--notes", "2", "--short", "2", "--runs", "10")
    found = run("speed.py", services, data, *options)
    names = [
        f"query_{way}_{percentile}_{kind}{encoder}"
        for encoder in ("", "_encoded")
        for kind in ("notes", "short")
        for way in ("client", "native")
        for percentile in ("p50", "p95")
    ]
    assert list(found["ratios"]) == names
    for ratio in found["ratios"].values():
        assert ratio["ci95"][0] <= ratio["ratio"] <= ratio["ci95"][1]
    quality = found["quality"]
    assert {"tuned", "server", "client", "native", "by hand"} <= quality.keys()
    assert quality["client"] == quality["native"] == quality["by hand"]
