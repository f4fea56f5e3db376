"""The table of aspects by searches of an index of made-up abstracts equals the one without a server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trifuse.encoder.training.aspects.labelled import LabelledDocument, LabelledSentence

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "aspects_served.py"
# A text is at the mean of its words; others are zeros. A title is at (1, 0): an outcome leaves it there, a
# population turns it to (1, 1) / √2.
WORDS = {"Trial": (1.0, 0.0), "died": (1.0, 0.0), "adults": (0.6, 0.8)}
TURNS = {"population": ([[1.0], [0.0]], [[0.0, 1.0]]), "outcome": ([[0.0], [0.0]], [[0.0, 0.0]])}
DOCUMENTS = [
    # Both aspects alone: a pair that can be switched.
    ["Trial of zinc .", "Forty adults/P came .", "Fewer died/O then ."],
    # Adults stand in a sentence of both.
    ["Trial of salt .", "Many died/O and adults/P left .", "Some died/O there ."],
]


@pytest.fixture
def data(tmp_path: Path, tiny_adapter: Any) -> Path:
    """The documents as labelled tokens, and a model with its adapter."""
    rows = []
    for number, sentences in enumerate(DOCUMENTS):
        words = [word for sentence in sentences for word in sentence.split()]
        pairs = [word.partition("/")[::2] for word in words]
        tokens, labels = zip(*((word, label or "N") for word, label in pairs), strict=True)
        ends = [sum(len(each.split()) for each in sentences[: at + 1]) for at in range(len(sentences))]
        rows.append({"pmid": str(number), "tokens": tokens, "labels": labels, "sent_ends": ends})
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = tiny_adapter.make_base(tmp_path / "base", WORDS, name="tiny-base", normalized=True, max_tokens=32)
    tiny_adapter.make_adapter(tmp_path / "adapter", base, TURNS)
    return tmp_path


def test_served_and_offline_are_the_same_and_as_worked_out_by_hand(services: Any, data: Path) -> None:
    options = ["rows.jsonl", "--encoder", "base", "--adapter", "adapter", "--vectors", "vectors", "--json"]
    environ = {**os.environ, **services.environ(), "TRIFUSE_CACHE": str(data / "cache")}
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environ, cwd=data, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["documents"], found["compared"]) == (2, 2)
    alone = {"top1": 50.0, "specific": 50.0, "switching": 0.0}
    expected = {
        "generic": alone,
        "instruction": alone,
        "tiny-aspects": {"top1": 100.0, "specific": 75.0, "switching": 100.0},
    }
    for name, method in found["methods"].items():
        assert method["served"] == method["offline"] == expected[name]
        assert (method["requests"], method["differing"]) == (4, 0)
        assert method["largest_gap"] < 1e-6
    assert found["methods"].keys() == found["over_all"].keys() == expected.keys()


def test_what_counts_as_an_answer_over_all_documents() -> None:
    import aspects_served

    title = LabelledSentence("t", 0, 1, frozenset())
    alone = LabelledSentence("a", 2, 3, frozenset({"outcome"}))
    both = LabelledSentence("b", 4, 5, frozenset({"outcome", "population"}))
    document = LabelledDocument("7", "t a b", (title, alone, both))
    first, second, other = ({"parent_id": "7", "item": 0}, {"parent_id": "7", "item": 1}, {"parent_id": "8"})
    answered = aspects_served.answered
    assert answered(document, "outcome", [first, second]) == (True, True, True, 1.0)
    assert answered(document, "outcome", [second, first]) == (True, True, False, 1.0)
    assert answered(document, "population", [first, second]) == (True, False, False, 0.5)
    assert answered(document, "outcome", [other, other, first]) == (False, False, False, pytest.approx(1 / 3))
    assert answered(document, "outcome", []) == (False, False, False, 0.0)
