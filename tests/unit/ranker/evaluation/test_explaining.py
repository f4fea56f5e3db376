"""Why queries moved: documents, grades, ranks, and legs, worked out by hand."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from trifuse.ranker.evaluation import evaluate
from trifuse.ranker.evaluation.explaining import Explained, Placed, explanations, moved_queries
from trifuse.ranker.evaluation.explanation_tables import explanation_tables

QRELS = {"q1": {"a": 2, "x": 0}, "q2": {"b": 1}, "q3": {"c": 1}}
TEXTS = {"q1": "stroke", "q2": "gout", "q3": "asthma"}
RUNS = {
    "theirs": {"q1": ["x", "a"], "q2": ["b"], "q3": ["c"]},
    "mine": {"q1": ["a", "y", "x"], "q2": ["y", "b"], "q3": ["c"]},
}
LEGS = {
    "mine": {
        "q1": {
            "a": {"lexical": {"rank": 3, "score": 1.5, "weight": 0.5, "normalized": 0.2}, "dense": None},
            "y": {"lexical": None, "dense": {"rank": None, "score": 0.7}},
            "x": {"lexical": None, "dense": None},
        }
    }
}


def test_the_documents_of_both_rankings() -> None:
    """q1 gains 0.5 and q2 loses 0.5; q3 stays. Of q1 the first is `a` by mine and `x` by theirs."""
    evaluation = evaluate(RUNS, QRELS, TEXTS, ["RR"])
    assert moved_queries(evaluation) == {"theirs": ["q1", "q2"], "mine": ["q1", "q2"]}
    first, second = explanations(evaluation, RUNS, LEGS, QRELS, 1)
    assert (first.query, first.text, first.measure, first.value, first.against_value) == (
        "q1",
        "stroke",
        "RR",
        1.0,
        0.5,
    )
    assert first.documents == (
        Explained("a", 2, Placed(1, LEGS["mine"]["q1"]["a"]), Placed(2)),
        Explained("x", 0, Placed(3, LEGS["mine"]["q1"]["x"]), Placed(1)),
    )
    assert [each.document for each in second.documents] == ["y", "b"]
    assert (second.documents[0].grade, second.documents[0].against) == (None, None)
    assert first.as_dict()["documents"][0]["placed"] == {"rank": 1, "legs": LEGS["mine"]["q1"]["a"]}


def test_as_a_table() -> None:
    found = explanations(evaluate(RUNS, QRELS, TEXTS, ["RR"]), RUNS, LEGS, QRELS, 2)
    text = StringIO()
    for table in explanation_tables(found):
        Console(width=80, file=text).print(table)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.getvalue().splitlines()]
    assert ["a", "2", "2", "1: lexical #3"] in rows
    assert ["y", "-", "-", "2: dense"] in rows  # the server fused: the leg's rank isn't told
    assert "q1 'stroke': RR 0.500 by theirs, 1.000 by mine" in " ".join(text.getvalue().split())
