"""Tables of the studies can be read at 80 columns, and their pictures say what they show."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from rich.console import Console
from rich.table import Table

from trifuse.deploy.cli.study_memory import LogMemory
from trifuse.deploy.cli.study_plots import check_plot, plot_cost, plot_gains, plot_log_size, plot_segments
from trifuse.deploy.cli.study_tables import (
    cost_table,
    gains_notes,
    gains_table,
    log_size_table,
    memory_table,
    segments_table,
)
from trifuse.ranker.errors import ExtraMissing
from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.cost import timed
from trifuse.ranker.evaluation.features import FEATURES
from trifuse.ranker.evaluation.gains import GainStudy, study_gains
from trifuse.ranker.evaluation.log_size import size_lines
from trifuse.ranker.evaluation.segment_gains import segment_gains

QRELS = {f"q{number}": {"a": 1} for number in range(4)}
SEGMENTS = dict(zip(QRELS, ("HEAD", "TORSO", "TORSO", "TAIL"), strict=True))
RUNS = {"0 %": {query: ["x", "a"] for query in QRELS}, "100 %": {query: ["a"] for query in QRELS}}


def shown(table: Table) -> list[list[str]]:
    """The cells of each line, as one sees them at 80 columns; nothing is cut off."""
    text = StringIO()
    Console(width=80, file=text).print(table)
    lines = text.getvalue().splitlines()
    assert "…" not in text.getvalue()
    assert max(map(len, lines)) <= 80
    return [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in lines]


@pytest.fixture
def gains() -> GainStudy:
    """Twelve queries, of which HEAD ones gain 0.5 and others nothing; all have one word."""
    features = {
        f"q{number}": {
            **dict.fromkeys(FEATURES, 1.0),
            "HEAD": float(number % 2),
            "TORSO": 0.0,
            "TAIL": float(1 - number % 2),
            "ENT(Q)": [0.1, 0.9, 0.5][number % 3],
        }
        for number in range(12)
    }
    gained = {query: 0.5 * row["HEAD"] for query, row in features.items()}
    return study_gains({**gained, "alone": 0.0}, features, resamples=100)


def test_gains_per_segment() -> None:
    """RR from 0.5 to 1 in every segment."""
    rows = shown(segments_table(segment_gains(evaluate(RUNS, QRELS, QRELS, ["RR"]), SEGMENTS), "log", "none"))
    named = {row[0]: row[1] for row in rows if row and row[0]}
    assert named | {"ALL": "n=4", "HEAD": "n=1", "TORSO": "n=2", "TAIL": "n=1"} == named
    assert ["RR", "0.500", "1.000", "+0.500", "+0.500 to +0.500", "+100 %", "1.000"] in rows


def test_the_size_of_the_log() -> None:
    lines = size_lines(evaluate(RUNS, QRELS, QRELS, ["RR"]), SEGMENTS, "RR")
    rows = shown(log_size_table(lines, "RR", "lader"))
    assert ["none", "0.500", "0.500-0.500", "", "0.500", "0.500", "0.500"] in rows
    assert ["100 %", "1.000", "1.000-1.000", "+0.500", "1.000", "1.000", "1.000"] in rows


def test_features_of_queries_that_gain(gains: GainStudy) -> None:
    """HEAD is 0.25 above the average of HEAD and TAIL, TAIL 0.25 below."""
    rows = {row[0]: row[1:] for row in shown(gains_table(gains, "nDCG@10")) if row}
    assert rows["HEAD"] == ["+0.2500", "+0.250 to +0.250", "0", "0.5", "1"]
    assert rows["TAIL"][0] == "-0.2500"
    assert rows["QL"][:2] == ["-", ""]
    said = list(gains_notes(gains))
    assert "HEAD, TAIL determine each other: each says how it differs from their average" in said
    assert "1 queries without similar past queries were left out" in said
    assert any(line.startswith("QL, TORSO, ENT(D)") and "the same for all queries" in line for line in said)


def test_time_and_memory() -> None:
    """2 ms more, of 10."""
    without = np.full((3, 2), 10.0)
    rows = shown(cost_table(timed(without + 2, without, resamples=10), "lader", "lader-no-log"))
    assert ["p50", "10.0", "12.0", "+2.0", "+2.0 to +2.0", "1.20", "1.20-1.20"] in rows
    memory = LogMemory(100, 1000, {"q": 40_000, "docs": 20_000}, {"trifuse-queries-trials": 500_000}, False)
    rows = shown(memory_table(memory))
    assert ["Redis", "0.06", "60.0", "600.0"] in rows
    assert ["what was clicked", "0.04", "40.0", "400.0"] in rows
    assert ["OpenSearch", "0.50", "500.0", "5000.0"] in rows


def test_an_empty_log_takes_nothing_per_pair() -> None:
    found = LogMemory(0, 0, {"q": 0}, {}, False).as_dict()
    assert found["bytes_per_pair"] == {"redis": None, "opensearch": None}
    assert ["Redis", "0.00", "", ""] in shown(memory_table(LogMemory(0, 0, {}, {}, False)))


def draw_all(gains: GainStudy) -> dict[str, Callable[[Path], None]]:
    evaluation = evaluate(RUNS, QRELS, QRELS, ["RR", "P@1"])
    times = timed(np.full((3, 2), 12.0), np.full((3, 2), 10.0), resamples=10)
    return {
        "segments": lambda path: plot_segments(
            path, segment_gains(evaluation, SEGMENTS), "What the log adds", "lader", "lader-no-log"
        ),
        "log-size": lambda path: plot_log_size(path, size_lines(evaluation, SEGMENTS, "RR"), "By size", "RR"),
        "gains": lambda path: plot_gains(path, gains, "Who gains", "RR"),
        "cost": lambda path: plot_cost(path, times, "What it costs", "lader", "lader-no-log"),
    }


@pytest.mark.parametrize("study", ["segments", "log-size", "gains", "cost"])
def test_pictures(study: str, gains: GainStudy, tmp_path: Path) -> None:
    """PNG's signature; and as SVG, whose glyphs are kept as text, the words that make it readable."""
    draw = draw_all(gains)[study]
    draw(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none"}):
        draw(tmp_path / "plot.svg")
    words = (tmp_path / "plot.svg").read_text()
    expected = {
        "segments": ["What the log adds", "lader-no-log", "RR (mean, 95 % interval)", "TORSO", "n=2"],
        "log-size": ["By size", "(%)", "RR (mean", "ALL", "HEAD"],
        "gains": ["Who gains", "ENT(D)", "more gain", "12 queries", "constant"],
        "cost": ["What it costs", "time of a search (ms)", "p95", "× 1.20", "lader"],
    }
    for word in expected[study]:
        assert word in words, word


def test_a_plot_that_cant_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    check_plot(None)
    check_plot(tmp_path / "plot.PNG")
    with pytest.raises(typer.BadParameter, match="no folder"):
        check_plot(tmp_path / "nowhere" / "plot.png")
    with pytest.raises(typer.BadParameter, match=r"end it with .png, .svg, .pdf"):
        check_plot(tmp_path / "plot.jpg")


def test_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *args: Any) -> Any:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr("trifuse.ranker.evaluation.pictures.importlib.import_module", missing)
    with pytest.raises(ExtraMissing, match=r"pip install 'trifuse\[tune\]'"):
        check_plot(tmp_path / "plot.png")


def test_the_command_line_starts_without_matplotlib() -> None:
    code = "import sys, trifuse.deploy.cli.app; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
