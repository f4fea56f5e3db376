"""The table of an evaluation: everything can be read at 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO

from rich.console import Console

from trifuse.ranker.evaluation import Ranked, evaluate
from trifuse.ranker.evaluation.report import by_segment
from trifuse.ranker.evaluation.report_tables import evaluation_table, moved_tables, notes, segment_tables

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUNS = {"bm25": {"q1": ["x", "a"], "q2": ["b"]}, "hybrid": {"q1": ["a"], "q2": ["b"]}}


def _shown(against: Mapping[str, str] | None = None) -> str:
    text = StringIO()
    Console(width=80, file=text).print(
        evaluation_table(evaluate(RUNS, QRELS, list(QRELS), ["RR"], against=against))
    )
    return text.getvalue()


def test_means_and_the_comparison() -> None:
    """RR is 0.5 and 1 against 1 and 1: 0.75, 1, and 0.25 more; one query won, none lost."""
    shown = _shown()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if "│" in line]
    _, bm25, hybrid = rows
    assert bm25 == ["bm25", "0.7500", "0.500-1.000", "", "", "", ""]
    assert hybrid[:5] == ["hybrid", "1.0000", "1.000-1.000", "+0.2500", "1.000"]
    assert hybrid[6] == "1/0"
    assert "difference from bm25" in shown


def test_pairs_name_the_other_profile() -> None:
    shown = _shown({"hybrid": "bm25", "bm25": "hybrid"})
    assert "[bm25]" in shown  # on a line of its own, where the column is narrow
    assert "from the profile in brackets" in shown


def test_notes_say_what_was_left_out_and_what_gave_nothing() -> None:
    evaluation = evaluate(RUNS, QRELS, [*QRELS, "q3"], ["RR"])
    ranked = {"bm25": Ranked(RUNS["bm25"], 100, {"clicks": {"off": 2}}, {"clicks": "no click store"})}
    assert list(notes(evaluation, ranked)) == [
        "1 queries without a relevant document were left out",
        "ranked to depth 100",
        "bm25: clicks gave nothing: no click store",
    ]


def test_what_moves_most() -> None:
    """q1 gains 0.5; with a document of q2 gone it loses 1; what doesn't move isn't shown."""
    runs = {**RUNS, "hybrid": {"q1": ["a"], "q2": []}}
    texts = {"q1": "stroke [in] adults\x1b", "q2": "gout"}
    (table,) = moved_tables(evaluate(runs, QRELS, texts, ["RR", "P@1"]))
    text = StringIO()
    Console(width=80, file=text).print(table)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.getvalue().splitlines()]
    assert ["q1", "stroke [in] adults\N{REPLACEMENT CHARACTER}", "0.500", "1.000", "+0.500"] in rows
    assert ["q2", "gout", "1.000", "0.000", "-1.000"] in rows
    assert "RR: what moves most from bm25 to hybrid" in text.getvalue()
    same = {"bm25": RUNS["bm25"], "again": RUNS["bm25"]}
    assert list(moved_tables(evaluate(same, QRELS, list(QRELS), ["RR"]))) == []


def test_it_prints_itself() -> None:
    """As tables where print is used, and where a console is; a query whose text isn't known has none."""
    evaluation = evaluate(RUNS, QRELS, [*QRELS, "q3"], ["RR"])
    said = str(evaluation)
    assert "difference from bm25" in said
    assert "RR: what moves most from bm25 to hybrid" in said
    assert said.endswith("1 queries without a relevant document were left out")
    text = StringIO()
    Console(width=100, file=text).print(evaluation)
    assert [line.rstrip() for line in text.getvalue().splitlines()] == said.splitlines()


def test_segments() -> None:
    evaluation = evaluate(RUNS, QRELS, list(QRELS), ["RR"])
    text = StringIO()
    for table in segment_tables(by_segment(evaluation, {"q1": "HEAD", "q2": "TAIL"})):
        Console(width=100, file=text).print(table)
    assert "HEAD: 1 queries" in text.getvalue()
    assert "for the comparisons in a measure and segments" in " ".join(text.getvalue().split())
