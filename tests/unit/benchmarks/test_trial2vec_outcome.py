"""The table of outcomes: labels and texts of its two kinds of files."""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trial2vec
import trial2vec_outcome
from trial2vec_data import FULL
from trial2vec_outcome import by_status, by_top, top_trials

from trifuse.encoder.templates import build_text
from trifuse.indexer.trial_parts import trial_parts

COLUMNS = ("nctid", "status", "why_stop", "label", "diseases", "drugs", "criteria")


def test_an_end_is_a_label_and_no_text(tmp_path: Path) -> None:
    """The first is a trial of the test part, the second of the training part; the third hasn't ended."""
    with gzip.open(tmp_path / "trials.jsonl.gz", "wt") as file:
        for name, status in (
            ("NCT00000030", "COMPLETED"),
            ("NCT00000008", "TERMINATED"),
            ("NCT00000001", "RECRUITING"),
        ):
            record = {"nct_id": name, "overall_status": status, "why_stopped": "fate", "brief_title": "pills"}
            file.write(json.dumps(record) + "\n")
    assert len(by_status(tmp_path, 1)) == 1
    found = by_status(tmp_path)
    assert [(each.trial.id, each.positive, each.split) for each in found] == [
        ("NCT00000030", True, "test"),
        ("NCT00000008", False, "train"),
    ]
    for each in found:
        assert build_text(each.trial.source, FULL) == "pills"
        assert "fate" not in json.dumps(each.trial.source)
        assert "TERMINATED" not in json.dumps(each.trial.source)


@pytest.fixture
def benchmark_folder(tmp_path: Path) -> Path:
    """Of both outcomes one trial in four for the disease that tells it."""
    folder = tmp_path / "top_benchmark"
    folder.mkdir()
    for number, (split, trials) in enumerate((("train", 8), ("valid", 4), ("test", 4))):
        with gzip.open(folder / f"phase_I_{split}.csv.gz", "wt", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(COLUMNS)
            for trial in range(trials):
                disease = "['gout']" if trial % 2 else "['asthma', 'cough']"
                name = f"NCT{number}{trial:07}"
                rows.writerow([name, "said", "told", trial % 2, disease, "['pills', 'air']", "adults"])
    return tmp_path


def test_the_benchmarks_records(benchmark_folder: Path) -> None:
    found = by_top(benchmark_folder)
    assert [each.split for each in found] == ["train"] * 8 + ["valid"] * 4 + ["test"] * 4
    assert [each.positive for each in found[:4]] == [False, True, False, True]
    assert trial_parts(found[0].trial.source) == {
        "intervention": "pills; air",
        "condition": "asthma; cough",
        "context": "adults",
    }
    assert len(top_trials(benchmark_folder)) == 16
    assert top_trials(benchmark_folder / "nowhere") == []


def test_the_table(
    benchmark_folder: Path,
    tmp_path: Path,
    make_parts_model: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What tells the outcome is the disease, so that every method finds it but the base rate."""
    words = {"pills": [1.0, 0.0, 0.0], "asthma": [0.0, 1.0, 0.0], "gout": [0.0, 0.0, 1.0]}
    model = str(make_parts_model(tmp_path / "model", words))
    monkeypatch.setattr(trial2vec_outcome, "FLAT_MODEL", model)
    options = ["--data", str(benchmark_folder), "--model", model, "--cache", str(tmp_path / "kept")]
    monkeypatch.setattr(sys, "argv", ["trial2vec.py", "--table", "outcome", "--json", *options])
    trial2vec.main()
    found = json.loads(capsys.readouterr().out)
    assert found["trials"]["test"] == {"positive": 2, "negative": 2}
    assert found["methods"]["base rate"]["roc_auc"]["mean"] == 0.5
    for method in ("trial2vec", "tfidf", "word vectors"):
        assert found["methods"][method]["roc_auc"]["mean"] == 1.0
    assert found["differences"]["base rate"]["roc_auc"]["difference"] == 0.5
